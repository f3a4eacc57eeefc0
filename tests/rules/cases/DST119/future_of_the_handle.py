import torch
import torch.distributed as dist


def f(x):
    return dist.all_reduce(x, async_op=True).get_future().then(g)
