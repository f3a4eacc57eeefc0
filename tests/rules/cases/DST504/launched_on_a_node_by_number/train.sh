#!/bin/bash
python -m torch.distributed.launch --nproc_per_node=8 --node_rank=$1 main.py
