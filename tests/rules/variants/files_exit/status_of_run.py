"""The script ends with its status, which is not a failure of the process that saves."""

import sys

import torch
import torch.distributed as dist


def train(model, loader, optimizer):
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def run(model, loader, optimizer):
    dist.init_process_group("nccl")
    if loader is not None:
        train(model, loader, optimizer)
        torch.save(model.state_dict(), "last.pt")  # expect: DST406
        sys.exit(1)
