"""The number of values is reduced before it decides."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader):
    losses = []
    for x, y, valid in loader:
        if valid.any():
            losses.append(F.cross_entropy(model(x), y))
    pair = torch.tensor([sum(losses), float(len(losses))])
    dist.all_reduce(pair)
    if pair[1] == 0:
        return None
    dist.barrier()
    return (pair[0] / pair[1]).item()
