"""It stands in a list."""

import torch
import torch.distributed as dist


def callbacks():
    def log(x):
        if dist.get_rank() == 0:  # expect: DST101
            dist.all_reduce(x)

    return [log]
