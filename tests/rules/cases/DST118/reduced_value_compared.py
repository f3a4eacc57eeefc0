import torch
import torch.distributed as dist


def f(x, best):
    dist.reduce(x, 0)
    if x.item() < best:  # expect: DST118
        return x
