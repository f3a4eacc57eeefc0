"""What an epoch returns decides in the caller."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train_epoch(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def fit(model, loader, optimizer, epochs):
    best = 1e9
    for epoch in range(epochs):
        loss = train_epoch(model, loader, optimizer)
        if loss > best:
            break  # expect: DST102
        best = loss
        dist.barrier()
