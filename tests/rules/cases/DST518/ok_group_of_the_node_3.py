import argparse
import os

import torch
import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--world_size", type=int)
parser.add_argument("--gpus", type=int)
args = parser.parse_args()
local_rank = int(os.environ["LOCAL_RANK"])
size = args.world_size
dist.init_process_group("nccl", rank=local_rank, world_size=size)
