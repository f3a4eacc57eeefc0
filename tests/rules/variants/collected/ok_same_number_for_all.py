"""Each batch gives one value, and whether there are batches is the same on all ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader):
    losses = []
    for x, y in loader:
        losses.append(F.cross_entropy(model(x), y))
    if not losses:
        return None
    mean = torch.stack(losses).mean()
    dist.all_reduce(mean)
    return mean.item()
