import torch
import torch.distributed as dist


def f(x, world):
    x = dist.all_reduce(x) if world > 1 else x  # expect: DST118
    print(x.item())
