import torch
import torch.distributed as dist


def f(x, dist):
    x = dist.all_reduce(x)
    return x + 1
