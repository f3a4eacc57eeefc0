import torch
import torch.distributed as dist


def f(x):
    rt = x.clone()
    dist.reduce(rt, 0)
    rt /= 8
    return rt
