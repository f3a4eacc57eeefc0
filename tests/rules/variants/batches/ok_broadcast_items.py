"""What is broadcast from a collection says nothing about what it holds on each rank."""

import torch
import torch.distributed as dist


def synchronize(data):
    for tensor in data:
        if not torch.is_floating_point(tensor):
            continue
        dist.broadcast(tensor, 0)


def averaged(metadata, world):
    for value in metadata:
        if value.numel() == 0:
            continue
        dist.all_reduce(value)
