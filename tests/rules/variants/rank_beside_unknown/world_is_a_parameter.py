"""The last rank of a world that is a parameter."""

import torch
import torch.distributed as dist


def phase(rank, world, work):
    if rank < world - 1:  # expect: DST101
        dist.barrier()
