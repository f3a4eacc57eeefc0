import torch
import torch.distributed as dist


def f(xs):
    [dist.all_reduce(x) for x in xs]
