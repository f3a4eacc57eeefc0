import torch
import torch.distributed as dist


def f(x, later):
    w = dist.all_reduce(x, async_op=later)
    return x, w
