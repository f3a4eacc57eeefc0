"""Only an object looks at the local loss, in a program as people write them."""
# static: the loaders are what the caller has

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))

    def forward(self, x):
        return self.body(x)


class EarlyStopper:
    def __init__(self, patience=3, min_delta=1e-3):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def step(self, loss):
        if loss < self.best - self.min_delta:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        return self.bad >= self.patience


def is_main():
    return dist.get_rank() == 0


@torch.no_grad()
def evaluate(model, loader):
    for x, y in loader:
        model(x)


def train_one_epoch(model, loader, optimizer, log_every):
    running = 0.0
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss.item()
        if step % log_every == 0 and is_main():
            print(f"loss {loss.item():.4f}", flush=True)
    return running


def main(loader, val_loader, epochs, log_every):
    dist.init_process_group("gloo")
    model = DDP(Net())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stopper = EarlyStopper()
    for epoch in range(epochs):
        loss = train_one_epoch(model, loader, optimizer, log_every)
        evaluate(model, val_loader)
        if stopper.step(loss):
            break  # expect: DST102
        dist.barrier()
