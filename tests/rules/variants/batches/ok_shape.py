"""Shapes and types of a batch are alike."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer):
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            x, y = batch
        else:
            x, y = batch["x"], batch["y"]
        if x.dim() == 3 and x.shape[0] != 1:
            dist.barrier()
        if "mask" in batch:
            dist.barrier()
        loss = model(x, y)
        loss.backward()
        dist.all_reduce(loss)
