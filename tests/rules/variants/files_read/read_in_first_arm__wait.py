"""The twin: they wait first."""

import os

import torch
import torch.distributed as dist


def load(build, rank):
    dist.init_process_group("nccl", rank=rank)
    if rank != 0:
        dist.barrier()
        data = torch.load("cache.pt")
    else:
        data = build()
        torch.save(data, "cache.pt")
        dist.barrier()
    return data
