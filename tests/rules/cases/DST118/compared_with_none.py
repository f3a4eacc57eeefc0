import torch
import torch.distributed as dist


def f(x):
    w = dist.all_reduce(x)
    if w is not None:
        w.wait()
    return x
