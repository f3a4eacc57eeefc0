"""The twin: the others wait for it."""

import os

import torch
import torch.distributed as dist


def load(build):
    dist.init_process_group("nccl")
    path = "cache.pt"
    if dist.get_rank() == 0:
        data = build()
        torch.save(data, path)
        dist.barrier()
    else:
        dist.barrier()
        data = torch.load(path)
    return data
