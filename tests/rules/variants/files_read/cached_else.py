"""Rank 0 builds the file, and the others read it at once."""

import os

import torch
import torch.distributed as dist


def load(build):
    dist.init_process_group("nccl")
    path = "cache.pt"
    if dist.get_rank() == 0:
        data = build()
        torch.save(data, path)
    else:
        data = torch.load(path)  # expect: DST408
    return data
