"""Only the first so many ranks wait."""

import torch
import torch.distributed as dist


def save(n):
    if dist.get_rank() < n:  # expect: DST101
        dist.barrier()
