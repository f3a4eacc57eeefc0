"""Parts of the batches are joined, and a rank may have none."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


def correlate(model, loader):
    found = []
    for x, mask in loader:
        found.append(model(x)[mask])
    found = torch.cat(found)
    if found.numel() == 0:
        return 0.0  # expect: DST117
    total = found.sum()
    dist.all_reduce(total)
    return total.item()
