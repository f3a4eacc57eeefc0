"""The rank is passed as the device."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, device):
    for batch in loader:
        model(batch.to(device)).mean().backward()
    torch.save(model.module.state_dict(), "model.pt")  # expect: DST406


dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
model = DDP(torch.nn.Linear(2, 1).to(rank), device_ids=[rank])
train(model, torch.ones(5, 3, 2), rank)
