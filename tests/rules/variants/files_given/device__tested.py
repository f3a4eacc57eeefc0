"""The twin: the device is tested before the save."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, device):
    for batch in loader:
        model(batch.to(device)).mean().backward()
    if device == 0:
        torch.save(model.module.state_dict(), "model.pt")


dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
model = DDP(torch.nn.Linear(2, 1).to(rank), device_ids=[rank])
train(model, torch.ones(5, 3, 2), rank)
