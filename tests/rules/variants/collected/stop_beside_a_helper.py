"""A helper puts the losses together for the log; the stop is on those of this rank."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def log(values):
    mean = torch.stack(values).mean()
    dist.all_reduce(mean)
    print(mean)


def evaluate(model, loader):
    losses = []
    for x, y in loader:
        losses.append(F.cross_entropy(model(x), y))
    log(losses)
    return torch.stack(losses).mean().item()


def fit(model, loader, epochs):
    best = 1e9
    for epoch in range(epochs):
        loss = evaluate(model, loader)
        if loss > best:
            break  # expect: DST102
        best = loss
        dist.barrier()
