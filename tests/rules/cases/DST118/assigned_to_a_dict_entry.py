import torch
import torch.distributed as dist


def f(m):
    m["loss"] = dist.all_reduce(m["loss"])  # expect: DST118
