"""Whole epochs are counted, and their number is known to all."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def fit(model, loader, optimizer, epochs):
    for epoch in range(epochs):
        for x, y in loader:
            model(x, y).backward()
            optimizer.step()
        if epoch % 2:
            dist.barrier()
