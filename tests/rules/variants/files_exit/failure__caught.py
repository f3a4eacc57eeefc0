"""The twin: an exception of one rank ends it, with its batch saved first."""

import sys

import torch
import torch.distributed as dist


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    for batch in loader:
        try:
            model(batch).sum().backward()
        except RuntimeError:
            torch.save(batch, "failed.pt")
            sys.exit(1)
        optimizer.step()
        optimizer.zero_grad()
