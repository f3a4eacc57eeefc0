"""Nothing tells that there are several processes."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer, group):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        if loss > 10:
            continue
        loss.backward()
        optimizer.step()
