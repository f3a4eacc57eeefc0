"""An early stop after four bad epochs, counted in a variable."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader):
    running = 0.0
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        running += loss.item()
    return running


def main(loader, epochs):
    dist.init_process_group("nccl")
    model = DDP(nn.Linear(4, 4))
    best, bad = 1e9, 0
    for epoch in range(epochs):
        running = train(model, loader)
        bad = 0 if running < best else bad + 1
        best = min(best, running)
        if bad > 3:
            break  # expect: DST102
        dist.barrier()
