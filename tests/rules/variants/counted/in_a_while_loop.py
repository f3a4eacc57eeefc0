"""The same in a loop without an end."""

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


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(nn.Linear(4, 4))
    bad = 0
    while True:
        running = train(model, loader)
        bad = 0 if running < 3 else bad + 1
        if bad > 3:
            break  # expect: DST102
        dist.barrier()
