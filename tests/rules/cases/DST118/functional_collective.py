import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as C


def f(x):
    x = C.all_reduce(x, "sum", dist.group.WORLD)
    return x + 1
