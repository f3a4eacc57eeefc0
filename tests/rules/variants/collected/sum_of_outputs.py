"""The sum of what a model returns by name, with no wrapper in sight."""

import torch.distributed as dist


def train(model, loader, optimizer):
    for images, targets in loader:
        losses = model(images, targets)
        total = sum(losses.values())
        if not total.isfinite():
            continue  # expect: DST117
        total.backward()
        dist.all_reduce(total)
        optimizer.step()
