"""Rank 0 counts what it saves; nothing depends on it."""

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
    saved = 0
    for epoch in range(epochs):
        running = train(model, loader)
        if dist.get_rank() == 0 and running < 3:
            torch.save(model.module.state_dict(), f"{epoch}.pt")
            saved += 1
        dist.barrier()
    if dist.get_rank() == 0 and saved > 3:
        print(saved)
