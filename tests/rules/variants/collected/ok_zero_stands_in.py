"""A rank without values takes part with a zero."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader):
    losses = []
    for x, y, valid in loader:
        if valid.any():
            losses.append(F.cross_entropy(model(x), y))
    mean = torch.stack(losses).mean() if losses else torch.zeros(())
    dist.all_reduce(mean)
    return mean.item()
