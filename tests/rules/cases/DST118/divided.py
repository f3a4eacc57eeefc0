import torch
import torch.distributed as dist


def f(x):
    return dist.all_reduce(x) / dist.get_world_size()  # expect: DST118
