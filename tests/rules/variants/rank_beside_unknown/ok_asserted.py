"""The number has been checked."""

import torch
import torch.distributed as dist


def start(args, x):
    rank = dist.get_rank()
    if rank >= args.world:
        raise ValueError("too many")
    assert rank < args.total
    dist.all_reduce(x)
