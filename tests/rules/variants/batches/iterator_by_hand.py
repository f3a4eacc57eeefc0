"""Batches are fetched one by one."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, train_loader, steps):
    batches = iter(train_loader)
    for _ in range(steps):
        x, y = next(batches)
        loss = F.cross_entropy(model(x), y)
        if loss == 0:
            continue  # expect: DST117
        loss.backward()
        dist.all_reduce(loss)
