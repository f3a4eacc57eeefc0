import torch
import torch.distributed as dist


def f(x, works):
    works.append(dist.all_reduce(x, async_op=True))
    return x
