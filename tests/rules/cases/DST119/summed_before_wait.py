import torch
import torch.distributed as dist


def f(x):
    work = dist.all_reduce(x, async_op=True)  # expect: DST119
    y = x.view(-1).sum()
    work.wait()
    return y
