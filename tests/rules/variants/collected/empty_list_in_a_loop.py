"""Each turn collects the losses of its boxes; a turn without any is skipped."""

import torch
import torch.distributed as dist
import torch.nn.functional as F

from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, optimizer):
    model = DDP(model)
    for images, targets in loader:
        parts = []
        for output, target in zip(model(images), targets):
            if target["boxes"].numel() > 0:
                parts.append(F.l1_loss(output, target["boxes"]))
        if not parts:
            continue  # expect: DST117
        loss = sum(parts) / len(parts)
        loss.backward()
        dist.all_reduce(loss)
        optimizer.step()
