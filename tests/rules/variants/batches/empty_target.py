"""A test of the batch itself."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(detector, loader, optimizer):
    for images, targets in loader:
        if targets.sum() == 0:
            continue  # expect: DST117
        loss = detector(images, targets).sum()
        loss.backward()
        dist.all_reduce(loss)
        optimizer.step()
