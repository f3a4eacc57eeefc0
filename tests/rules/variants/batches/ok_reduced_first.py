"""All ranks decide on a reduced value."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        bad = torch.isnan(loss).float()
        dist.all_reduce(bad)
        if bad > 0:
            continue
        loss.backward()
        dist.all_reduce(loss)
        optimizer.step()
