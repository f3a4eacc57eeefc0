"""The same, counted in the arms of a branch."""

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


def main(loader, epochs, patience):
    dist.init_process_group("nccl")
    model = DDP(nn.Linear(4, 4))
    best, strikes = 1e9, 0
    for epoch in range(epochs):
        running = train(model, loader)
        if running < best:
            best = running
            strikes = 0
        else:
            strikes += 1
        dist.barrier()
        if strikes == 5:
            return  # expect: DST102
