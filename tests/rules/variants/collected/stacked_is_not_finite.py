"""Stacked values of the batches are tested before they are reduced."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader):
    scores = []
    for x, y in loader:
        scores.append(F.mse_loss(model(x), y))
    scores = torch.stack(scores)
    if not torch.isfinite(scores).all():
        return float("nan")  # expect: DST117
    mean = scores.mean()
    dist.all_reduce(mean)
    return mean.item() / dist.get_world_size()
