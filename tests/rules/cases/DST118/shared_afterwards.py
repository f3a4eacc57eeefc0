import torch
import torch.distributed as dist


def f(x, share):
    dist.reduce(x, 0)
    share(x)
    print(x)
