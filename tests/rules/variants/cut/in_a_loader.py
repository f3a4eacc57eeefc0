"""A loader of the subset that this rank gets."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from torch.utils.data import DataLoader, Subset


def main(dataset):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(torch.nn.Linear(3, 1))
    chunk = math.ceil(len(dataset) / world)
    indices = list(range(len(dataset)))[rank * chunk : (rank + 1) * chunk]
    loader = DataLoader(Subset(dataset, indices), batch_size=4)
    for batch in loader:  # expect: DST113
        model(batch).mean().backward()
