"""The name stands for the wrapper from the wrap on."""

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model, loader):
    dist.init_process_group("nccl")
    model = torch.compile(DDP(model))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for inputs in loader:
        loss = model(inputs).mean()
        loss.backward()
        optimizer.step()


def prepared(model, loader):
    accelerator = Accelerator()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for inputs in loader:
        accelerator.backward(model(inputs).mean())
        optimizer.step()
