import torch
import torch.distributed as dist


def f(x, kept):
    w = dist.all_reduce(x, async_op=True)
    y = x.view(x.shape[0], -1)
    kept.append(x)
    w.wait()
    return y
