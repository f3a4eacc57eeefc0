"""A helper of another package reduces."""

import torch
import torch.distributed as dist
import torch.nn.functional as F
from toolbox.distributed import reduce_dict, reduce_mean


def train(model, loader, optimizer):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        mean = reduce_mean(loss)
        if mean > 10:
            continue
        losses = reduce_dict({"loss": loss})
        if not torch.isfinite(losses["loss"]):
            continue
        loss.backward()
        dist.all_reduce(loss)
