import torch
import torch.distributed as dist


def f(x):
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    return x
