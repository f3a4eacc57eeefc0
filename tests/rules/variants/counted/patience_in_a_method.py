"""The same, by a stopper of its own."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Stopper:
    def __init__(self, patience):
        self.patience, self.best, self.count = patience, 1e9, 0

    def should_stop(self, loss):
        if loss < self.best:
            self.best, self.count = loss, 0
        else:
            self.count += 1
        return self.count >= self.patience


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
    stopper = Stopper(5)
    for epoch in range(epochs):
        if stopper.should_stop(train(model, loader)):
            break  # expect: DST102
        dist.barrier()
