import torch
import torch.distributed as dist


def f(x, **options):
    w = dist.all_reduce(x, **options)
    return x, w
