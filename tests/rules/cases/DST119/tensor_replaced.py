import torch
import torch.distributed as dist


def f(x):
    dist.all_reduce(x, async_op=True)
    x = torch.zeros(1)
    return x + 1
