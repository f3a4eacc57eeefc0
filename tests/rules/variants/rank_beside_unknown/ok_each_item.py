"""Whose turn it is stands in a list."""

import torch
import torch.distributed as dist


def in_order(order, x):
    for owner in order:
        if dist.get_rank() == owner:
            x.fill_(1)
        dist.broadcast(x, owner)
