"""What is collected has been reduced: it is the same on all ranks."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def train(model, loader, optimizer):
    history = []
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        shared = loss.detach().clone()
        dist.all_reduce(shared)
        history.append(shared)
        if torch.stack(history).mean() > 100:
            return None
    dist.barrier()
