import torch
import torch.distributed as dist


def f(x):
    dist.all_reduce(x, async_op=True)
    finish()
    return x


def finish():
    torch.cuda.current_stream().synchronize()
