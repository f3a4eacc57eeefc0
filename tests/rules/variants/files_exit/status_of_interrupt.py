"""On an interrupt each rank saves what there is, and ends."""

import sys

import torch
import torch.distributed as dist


def main(model, loader, optimizer):
    dist.init_process_group("nccl")
    try:
        for batch in loader:
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    except KeyboardInterrupt:
        torch.save(model.state_dict(), "interrupted.pt")  # expect: DST406
        sys.exit(130)
