import torch
import torch.distributed as dist


def f(x, best):
    dist.reduce(x, dst=0)
    x /= 4  # expect: DST118
    mean = x.item()
    better = mean < best
    while better:
        break
