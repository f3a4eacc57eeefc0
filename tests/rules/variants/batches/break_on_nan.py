"""A break in place of a continue."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        if loss.item() != loss.item():
            break  # expect: DST102
        optimizer.step()
        dist.all_reduce(loss)
