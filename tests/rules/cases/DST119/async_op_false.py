import torch
import torch.distributed as dist


def f(x):
    dist.all_reduce(x, async_op=False)
    return x + 1
