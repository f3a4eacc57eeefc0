"""A function of another file, called after a wait."""

import os

import torch.distributed as dist
from logs import Log


def main(args):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    if rank == 0:
        os.makedirs(args.out, exist_ok=True)
    dist.barrier()
    return Log(args.out, "train")
