import contextlib

import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, optimizer, n):
        self.model, self.optimizer, self.n = DDP(net), optimizer, n

    def update(self, it):
        self.optimizer.zero_grad()
        with self.model.no_sync():
            for _ in range(self.n - 1):
                self.model(next(it)).mean().backward()
        self.model(next(it)).mean().backward()
        self.optimizer.step()

    def by_function(self, it):
        self.optimizer.zero_grad()
        with self.model.no_sync():
            for _ in range(self.n - 1):
                self.model(next(it)).mean().backward()
        self.last(it)
        self.optimizer.step()

    def last(self, it):
        self.model(next(it)).mean().backward()

    def by_condition(self, loader):
        for i, x in enumerate(loader):
            sent = (i + 1) % self.n == 0
            with contextlib.nullcontext() if sent else self.model.no_sync():
                self.model(x).mean().backward()
            if sent:
                self.optimizer.step()
                self.optimizer.zero_grad()
