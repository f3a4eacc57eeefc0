import torch
import torch.distributed as dist


def f(x):
    return dist.all_reduce(x.contiguous())  # expect: DST118
