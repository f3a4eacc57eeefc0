import torch
import torch.distributed as dist

try:
    import mine.dist as dist
except ImportError:
    pass


def f(x):
    x = dist.all_reduce(x)
    return x + 1
