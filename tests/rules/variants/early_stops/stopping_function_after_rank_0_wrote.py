import json

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


BEST, BAD = float("inf"), 0


def exhausted(value, patience=3):
    global BEST, BAD
    if value < BEST:
        BEST, BAD = value, 0
    else:
        BAD += 1
    return BAD >= patience


def main(net, loader, optimizer, epochs):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(net)
    saved = 0
    for epoch in range(epochs):
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        if dist.get_rank() == 0:
            saved = epoch
            torch.save({"epoch": saved}, "state.pt")
        if exhausted(loss.item()):
            break  # expect: DST102
    print(json.dumps({"saved": saved}))
    dist.barrier()
