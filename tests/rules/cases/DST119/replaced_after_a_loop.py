import torch
import torch.distributed as dist


def f(xs):
    for x in xs:
        dist.all_reduce(x, async_op=True)
    x = 0
    return x
