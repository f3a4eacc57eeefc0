"""The sum of the losses in a list decides on this rank alone."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, heads, optimizer):
    for x, y in loader:
        losses = []
        for head in heads:
            losses.append(F.cross_entropy(head(model(x)), y))
        total = sum(losses)
        if torch.isnan(total):
            continue  # expect: DST117
        total.backward()
        dist.all_reduce(total)
        optimizer.step()
