import torch
import torch.distributed as dist


def f(x):
    w = dist.broadcast(x, 0, async_op=True)  # expect: DST119
    x[0] = 1
    w.wait()
