import torch
import torch.distributed as dist


def f(xs):
    with dist._coalescing_manager():
        dist.all_reduce(xs, async_op=True)
    return xs + 1
