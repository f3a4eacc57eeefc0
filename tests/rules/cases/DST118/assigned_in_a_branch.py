import torch
import torch.distributed as dist


def f(m, many):
    if many:
        m = dist.broadcast_object_list(m)  # expect: DST118
    return m[0]
