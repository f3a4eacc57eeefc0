"""A function that nobody is given."""

import torch
import torch.distributed as dist


def run(x):
    def probe():
        if dist.get_rank() == 0:
            dist.barrier()

    dist.all_reduce(x)
