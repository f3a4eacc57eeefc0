"""Batches that are skipped for what this rank has seen, counted up to ten."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(nn.Linear(4, 4))
    skipped = 0
    for x in loader:
        loss = model(x).mean()
        if loss.item() > 100:
            skipped += 1
        loss.backward()
        if skipped > 10:
            return  # expect: DST102
