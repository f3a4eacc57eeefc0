#!/bin/bash
torchrun --nnodes=$NODES --nproc_per_node=8 main.py
