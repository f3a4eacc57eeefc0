"""All ranks stop on what a helper has put together."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def shared(values):
    mean = torch.stack(values).mean()
    dist.all_reduce(mean)
    return mean / dist.get_world_size()


def evaluate(model, loader):
    losses = []
    for x, y in loader:
        losses.append(F.cross_entropy(model(x), y))
    return shared(losses).item()


def fit(model, loader, epochs):
    best = 1e9
    for epoch in range(epochs):
        loss = evaluate(model, loader)
        if loss > best:
            break
        best = loss
        dist.barrier()
