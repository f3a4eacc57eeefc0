"""No rank waits for the one that has nothing."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def evaluate(model, loader):
    losses = []
    for x, y, valid in loader:
        if valid.any():
            losses.append(F.cross_entropy(model(x), y))
    if not losses:
        return None
    return torch.stack(losses).mean()


def main(model, loader):
    dist.init_process_group("gloo")
    print(evaluate(model, loader))
    dist.barrier()
