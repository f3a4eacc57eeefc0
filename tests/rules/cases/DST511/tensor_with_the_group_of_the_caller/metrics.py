import torch
import torch.distributed as dist


def mean(value, n):
    both = torch.tensor([value * n, n])
    dist.all_reduce(both)  # expect: DST511
    return both[0] / both[1]
