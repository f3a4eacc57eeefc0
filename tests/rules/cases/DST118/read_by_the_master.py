import torch
import torch.distributed as dist


def f(x, is_master):
    dist.reduce(x, 0)
    x /= 8
    if is_master:
        print(x)
