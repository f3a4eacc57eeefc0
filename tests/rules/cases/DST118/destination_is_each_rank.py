import torch
import torch.distributed as dist


def f(x):
    dist.reduce(x, dist.get_rank())
    print(x)
