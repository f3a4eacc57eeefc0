"""A rank that has collected nothing leaves before the reduction."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader):
    losses = []
    for x, y, valid in loader:
        if not valid.any():
            continue
        losses.append(F.cross_entropy(model(x), y))
    if len(losses) == 0:
        return None  # expect: DST117
    mean = torch.stack(losses).mean()
    dist.all_reduce(mean)
    return mean.item()
