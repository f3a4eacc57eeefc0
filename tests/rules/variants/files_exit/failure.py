"""The twins: what one rank alone has met ends the process, and is kept for the search."""

import math
import sys

import torch
import torch.distributed as dist


def main(model, loader, optimizer, criterion):
    dist.init_process_group("nccl")
    for batch in loader:
        value = criterion(model(batch))
        if not math.isfinite(value.item()):
            torch.save(batch, "bad_batch.pt")
            sys.exit(1)
        value.backward()
        optimizer.step()
        optimizer.zero_grad()


def checked(model, loader, optimizer):
    dist.init_process_group("nccl")
    for batch in loader:
        out = model(batch)
        if out.abs().max() > 1e6:
            torch.save({"batch": batch, "out": out}, "too_large.pt")
            raise RuntimeError("too large")
        out.sum().backward()
        optimizer.step()
        optimizer.zero_grad()
