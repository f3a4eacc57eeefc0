import torch
import torch.distributed as dist


def f(x):
    dist.reduce(x, 0)
    if x.numel() > 1:
        raise ValueError(x.shape)
