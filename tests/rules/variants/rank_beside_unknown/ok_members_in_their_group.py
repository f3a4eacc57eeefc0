"""Members meet in their group."""

import torch
import torch.distributed as dist


def reduce(x, ranks, group, count):
    if dist.get_rank() in ranks:
        dist.all_reduce(x, group=group)
    if dist.get_rank() < count:
        dist.all_reduce(x, group=group)
