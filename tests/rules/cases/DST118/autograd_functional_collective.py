import torch
import torch.distributed as dist
import torch.distributed.nn.functional as F


def f(x):
    x = F.all_reduce(x)
    return x + 1
