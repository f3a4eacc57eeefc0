"""A checkpoint of the run before is loaded; rank 0 writes it again after the training."""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(loader, path, epochs):
    dist.init_process_group("gloo")
    net = torch.nn.Linear(2, 2)
    if os.path.exists(path):
        net.load_state_dict(torch.load(path, map_location="cpu"))
    model = DDP(net)
    for epoch in range(epochs):
        for x in loader:
            model(x).sum().backward()
        if dist.get_rank() == 0:
            torch.save(net.state_dict(), path)
