"""The same, in a dict."""

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
    state = {"best": 1e9, "bad": 0}
    for epoch in range(epochs):
        running = train(model, loader)
        state["bad"] = 0 if running < state["best"] else state["bad"] + 1
        state["best"] = min(state["best"], running)
        if state["bad"] > 3:
            break  # expect: DST102
        dist.barrier()
