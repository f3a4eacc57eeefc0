import torch
import torch.distributed as dist


def f(x):
    work = dist.all_reduce(x)
    return x
