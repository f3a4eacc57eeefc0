"""What is collected are parameters, which all ranks have."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def synchronize(model, loader):
    grads = []
    for x, y in loader:
        F.cross_entropy(model(x), y).backward()
    for parameter in model.parameters():
        if parameter.requires_grad:
            grads.append(parameter.grad)
    if not grads:
        return
    flat = torch.cat([grad.flatten() for grad in grads])
    dist.all_reduce(flat)
