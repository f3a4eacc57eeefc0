"""The status says whether the aim was reached."""

import sys

import torch
import torch.distributed as dist


def main(model, loader, optimizer, aim):
    dist.init_process_group("nccl")
    total = torch.zeros((), device="cuda")
    for batch in loader:
        out = model(batch).sum()
        out.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += out.detach()
    dist.all_reduce(total)
    reached = total.item() >= aim
    if loader:
        torch.save(model.state_dict(), "final.pt")  # expect: DST406
        sys.exit(0 if reached else 1)
