"""The loss comes from a helper that is given model and batch."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def compute_loss(model, batch):
    x, y = batch
    return F.cross_entropy(model(x), y)


def train(model, loader):
    for batch in loader:
        loss = compute_loss(model, batch)
        if loss < 0.1:
            continue  # expect: DST117
        loss.backward()
        dist.all_reduce(loss)
