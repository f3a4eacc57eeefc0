import torch
import torch.distributed as dist


def f(x, rank):
    if rank in (0, 1):
        dist.reduce(x, 0)
        print(x.item())
