#!/bin/bash
torchrun --nnodes 4 --nproc_per_node=8 main.py
