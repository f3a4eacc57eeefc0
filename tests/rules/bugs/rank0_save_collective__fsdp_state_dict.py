"""The state dict of an FSDP model, collected in the block of rank 0 after training."""
# effect: hang

import os
import tempfile

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def fit(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        model(batch).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def train(path):
    model = FSDP(torch.nn.Linear(4, 2), device_id=torch.device("cpu"))
    fit(model, torch.randn(2, 3, 4))
    if dist.get_rank() == 0:  # expect: DST407
        torch.save(model.state_dict(), path)
    dist.barrier()


dist.init_process_group("gloo")
train(os.path.join(tempfile.mkdtemp(), "model.pt"))
