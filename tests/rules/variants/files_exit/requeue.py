"""A job whose time is over saves on all ranks, and asks with its status to be started again."""

import sys
import time

import torch
import torch.distributed as dist


def main(model, loader, optimizer, limit):
    dist.init_process_group("nccl")
    begin = time.time()
    for step, batch in enumerate(loader):
        model(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == limit:
            torch.save({"model": model.state_dict(), "step": step}, "state.pt")  # expect: DST406
            print("saved after", time.time() - begin)
            sys.exit(75)
