"""A loader that is a parameter has batches of each rank's own."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        if loss == 0:
            continue  # expect: DST117
        dist.all_reduce(loss)
