"""The number stands on the left."""

import torch
import torch.distributed as dist


def finish(first, x):
    if first > dist.get_rank():  # expect: DST101
        dist.all_reduce(x)
