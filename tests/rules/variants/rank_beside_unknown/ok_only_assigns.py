"""Nobody meets in the branch."""

import torch
import torch.distributed as dist


def share(n, x):
    rank = dist.get_rank()
    extra = 1 if rank < n % dist.get_world_size() else 0
    if rank == n:
        print("mine")
    dist.all_reduce(x)
    return extra
