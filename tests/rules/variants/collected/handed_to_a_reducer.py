"""A function is given the list, and reduces it if there is something in it."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def reduced(values):
    if not values:
        return None  # expect: DST117
    mean = torch.cat(values).mean()
    dist.all_reduce(mean)
    return mean


def evaluate(model, loader):
    kept = []
    for x, y in loader:
        out = model(x)
        if (out > 0.5).any():
            kept.append(out[out > 0.5])
    return reduced(kept)
