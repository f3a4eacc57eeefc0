import torch
import torch.distributed as dist


def f(x, share):
    dist.reduce(x, 0)
    mean = share(x.item())
    print(mean)
