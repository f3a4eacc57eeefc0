"""The twin: the statement chooses a rank."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, loader, device):
    for batch in loader:
        model(batch.to(device)).mean().backward()
    torch.save(model.state_dict(), "model.pt")


dist.init_process_group("nccl")
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
model = DDP(torch.nn.Linear(2, 1).to(rank), device_ids=[rank])
loss = train(torch.nn.Linear(2, 1), torch.ones(5, 3, 2), "cpu") if rank == 0 else None
