"""A helper is given the number."""

import torch
import torch.distributed as dist


def takes_part(count):
    return dist.get_rank() < count


def finish(count, x):
    if takes_part(count):  # expect: DST101
        dist.all_reduce(x)
