import torch
import torch.distributed as dist
from mine import dist


def f(x):
    x = dist.all_reduce(x)
    return x + 1
