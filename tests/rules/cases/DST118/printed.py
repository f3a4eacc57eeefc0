import torch
import torch.distributed as dist


def f(x):
    print("sum", dist.all_reduce(x, async_op=False))  # expect: DST118
