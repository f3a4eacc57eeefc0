#!/bin/bash
# the endpoint that --standalone stands for
torchrun --rdzv-backend=c10d --rdzv-endpoint=localhost:0 --standalone --nnodes=1 --nproc-per-node=4 train.py
