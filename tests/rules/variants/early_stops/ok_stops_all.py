"""The class decides on one rank, and sends the decision to all."""

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
    def __init__(self, patience=7):
        self.patience = patience
        self.counter = 0
        self.best_score = None

    def __call__(self, loss):
        stop = torch.zeros(1).cuda()
        if dist.get_rank() == 0:
            if self.best_score is None or -loss > self.best_score:
                self.best_score = -loss
                self.counter = 0
            else:
                self.counter += 1
                if self.counter >= self.patience:
                    stop += 1
        dist.broadcast(stop, 0)
        return stop.item() > 0


def main(train, val, epochs):
    stopper = EarlyStopping()
    for epoch in range(epochs):
        for x in train:
            model(x).mean().backward()
        if stopper(evaluate(val)):
            break
    dist.barrier()


main(loader(), loader(), int(input()))
