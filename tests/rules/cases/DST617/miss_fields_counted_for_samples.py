"""The length of a batch of several tensors is their number: each rank has the same weight."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def evaluate(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, hits = 0, 0.0
    for batch in loader:
        n += len(batch)  # expect: DST617
        hits += (model(batch[0].cuda()) > 0).float().mean().item()
    total = torch.tensor([n * hits, n], device="cuda")
    dist.all_reduce(total)
    return (total[0] / total[1]).item()
