"""A class keeps the best score, None at first, and counts the epochs without a better one."""

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


class EarlyStopping:
    def __init__(self, patience=7, delta=0.0):
        self.patience = patience
        self.delta = delta
        self.counter = 0
        self.best_score = None
        self.early_stop = False

    def __call__(self, loss):
        score = -loss
        if self.best_score is None:
            self.best_score = score
        elif score < self.best_score + self.delta:
            self.counter += 1
            if self.counter >= self.patience:
                self.early_stop = True
        else:
            self.best_score = score
            self.counter = 0


def main(train, val, epochs):
    stopper = EarlyStopping()
    for epoch in range(epochs):
        for x in train:
            model(x).mean().backward()
        stopper(evaluate(val))
        if stopper.early_stop:
            break  # expect: DST102


main(loader(), loader(), int(input()))
