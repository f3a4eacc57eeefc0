"""The arms the other way around."""

import os

import torch
import torch.distributed as dist


def load(build, rank):
    dist.init_process_group("nccl", rank=rank)
    if rank != 0:
        data = torch.load("cache.pt")  # expect: DST408
    else:
        data = build()
        torch.save(data, "cache.pt")
    return data
