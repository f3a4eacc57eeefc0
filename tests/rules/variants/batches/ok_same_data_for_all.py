"""An evaluation without reduction may read the same on all ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    total = 0.0
    for x, y in loader:
        total += F.cross_entropy(model(x), y).item()
    return total / len(loader)


def fit(model, train_loader, val_loader, epochs):
    best = 1e9
    for epoch in range(epochs):
        loss = evaluate(model, val_loader)
        if loss < best:
            best = loss
            dist.barrier()
