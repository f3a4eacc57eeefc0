#!/bin/bash
torchrun --nnodes=1 --nproc_per_node=8 \
    main.py --lr 1
