"""What has been counted is agreed upon before it decides."""

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
    bad = 0
    for epoch in range(epochs):
        bad = 0 if train(model, loader) < 3 else bad + 1
        stop = torch.tensor(int(bad > 3))
        dist.all_reduce(stop, op=dist.ReduceOp.MAX)
        if stop.item():
            break
        dist.barrier()
