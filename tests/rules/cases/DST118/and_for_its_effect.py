import torch
import torch.distributed as dist


def f(x, many):
    many and dist.all_reduce(x)
