import torch
import torch.distributed as dist


def f(x):
    w = dist.all_reduce(x, async_op=True)
    y = torch.empty_like(x)
    n = len(x)
    w.wait()
    return y, n
