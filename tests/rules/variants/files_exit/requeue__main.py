"""The twin: rank 0 saves."""

import sys

import torch
import torch.distributed as dist


def main(model, loader, optimizer, limit):
    dist.init_process_group("nccl")
    for step, batch in enumerate(loader):
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == limit:
            if dist.get_rank() == 0:
                torch.save({"model": model.state_dict(), "step": step}, "state.pt")
            dist.barrier()
            sys.exit(75)
