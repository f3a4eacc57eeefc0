"""The twin: no wait in between."""

import os

import torch.distributed as dist
from logs import Log


def main(args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    if rank == 0:
        os.makedirs(args.out, exist_ok=True)
    return Log(args.out, "train")
