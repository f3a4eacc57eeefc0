import torch
import torch.distributed as dist


def f(m):
    d = dist.broadcast_object_list([m], src=0)[0]  # expect: DST118
    return d
