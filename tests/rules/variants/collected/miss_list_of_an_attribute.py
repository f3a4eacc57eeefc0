"""An object collects what its batches gave."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


class Meter:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    def mean(self):
        if len(self.values) == 0:
            return 0.0  # expect: DST117
        total = torch.stack(self.values).mean()
        dist.all_reduce(total)
        return total.item()


def evaluate(model, loader):
    meter = Meter()
    for x, y, keep in loader:
        if keep.any():
            meter.add(F.cross_entropy(model(x), y))
    return meter.mean()
