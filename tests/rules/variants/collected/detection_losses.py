"""The losses of a dict are summed, and the sum ends the step of this rank."""

import math

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer):
    for images, targets in loader:
        loss_dict = model(images, targets)
        losses = sum(loss for loss in loss_dict.values())
        if not math.isfinite(losses.item()):
            continue  # expect: DST117
        losses.backward()
        dist.all_reduce(losses)
        optimizer.step()
