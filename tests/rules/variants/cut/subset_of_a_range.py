"""The numbers of the samples are a range that is cut at the end of the data."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from torch.utils.data import DataLoader, Subset


def main(dataset):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(torch.nn.Linear(3, 1))
    per_rank = (len(dataset) + world - 1) // world
    lower = rank * per_rank
    upper = min(lower + per_rank, len(dataset))
    part = Subset(dataset, range(lower, upper))
    for batch in DataLoader(part, batch_size=4, shuffle=True):  # expect: DST113
        model(batch).mean().backward()
