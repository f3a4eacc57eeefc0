import torch
import torch.distributed as dist


def f(x):
    assert dist.all_reduce(x) is None
