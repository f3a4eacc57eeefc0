import torch
import torch.distributed as dist


def f(x):
    w = dist.all_reduce(x)
    if w:
        w.wait()
    return x
