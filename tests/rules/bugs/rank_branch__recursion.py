"""A helper that calls itself a known number of times, and one barrier too many before it."""
# effect: hang

import torch
import torch.distributed as dist


def descend(level):
    if level == 0:
        return
    dist.barrier()
    descend(level - 1)


dist.init_process_group("gloo")
if dist.get_rank() == 0:  # expect: DST101
    dist.barrier()
descend(3)
dist.all_reduce(torch.ones(1))
