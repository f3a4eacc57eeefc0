import os
import torch
import torch.distributed as dist


def maybe(fn, *a, **k):
    if dist.get_rank() == 0:
        return fn(*a, **k)
