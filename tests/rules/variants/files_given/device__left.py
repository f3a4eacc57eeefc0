"""The twin: all but one have left, by a name for the test."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, where):
    for batch in loader:
        model(batch.to(where)).mean().backward()
    first = where == 0
    if not first:
        return
    torch.save(model.module.state_dict(), "model.pt")


dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
model = DDP(torch.nn.Linear(2, 1).to(rank), device_ids=[rank])
train(model, torch.ones(5, 3, 2), where=rank)
