import torch
import torch.distributed as dist


def f(x, out):
    w = dist.all_gather(out, x, async_op=True)  # expect: DST119
    y = torch.cat(out)
    w.wait()
    return y
