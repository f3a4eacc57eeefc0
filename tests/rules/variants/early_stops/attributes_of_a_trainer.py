"""The state is that of a trainer, and a method says whether to stop."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
model = DDP(torch.nn.Linear(1, 1).cuda())


def loader():
    data = torch.arange(90.0)
    return torch.utils.data.DataLoader(data, sampler=torch.utils.data.DistributedSampler(data))


def evaluate(loader):
    total = 0.0
    for x in loader:
        total += model(x).mean().item()
    return total


class Trainer:
    def __init__(self, train, val):
        self.train, self.val = train, val
        self.best = None
        self.bad = 0

    def should_stop(self, total):
        if self.best is None or total < self.best:
            self.best = total
            self.bad = 0
            return False
        self.bad += 1
        return self.bad > 5

    def fit(self, epochs):
        for epoch in range(epochs):
            for x in self.train:
                model(x).mean().backward()
            if self.should_stop(evaluate(self.val)):
                break  # expect: DST102
        dist.barrier()


Trainer(loader(), loader()).fit(int(input()))
