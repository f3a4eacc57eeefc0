import torch
import torch.distributed as dist


def f(x, y):
    w = dist.all_reduce(x, async_op=True)
    w = dist.all_reduce(y, async_op=True)
    w.wait()
    return x + y
