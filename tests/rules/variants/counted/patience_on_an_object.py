"""The same, on an object that a function is given."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class State:
    best = 1e9
    bad = 0


def train(model, loader, state):
    state.running = 0.0
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        state.running += loss.item()


def main(loader, epochs):
    dist.init_process_group("nccl")
    model = DDP(nn.Linear(4, 4))
    state = State()
    for epoch in range(epochs):
        train(model, loader, state)
        state.bad = 0 if state.running < state.best else state.bad + 1
        if state.bad > 3:
            break  # expect: DST102
        dist.barrier()
