"""The same in a while loop, with the counter in an attribute, and an evaluation on all ranks."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, loader):
        self.model = DDP(net)
        self.loader = loader
        self.best = float("inf")
        self.bad = 0

    def epoch(self):
        total = torch.zeros(1)
        for inputs in self.loader:
            loss = self.model(inputs).mean()
            loss.backward()
            total += loss.detach()
        return total.item()

    def run(self, epochs):
        epoch = 0
        while epoch < epochs:
            total = self.epoch()
            if total < self.best:
                self.best = total
                self.bad = 0
            else:
                self.bad += 1
            if self.bad >= 4:
                print("no progress")
                return  # expect: DST102
            epoch += 1


dist.init_process_group("gloo")
Trainer(torch.nn.Linear(2, 2), [torch.ones(2, 2)] * 50).run(100)
