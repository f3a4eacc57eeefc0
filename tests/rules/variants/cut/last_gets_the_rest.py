"""The last rank also gets what is left."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def train(data):
    per = len(data) // world
    start = rank * per
    end = start + per if rank != world - 1 else len(data)
    for sample in data[start:end]:  # expect: DST113
        model(sample).mean().backward()


def open_end(data):
    per = len(data) // world
    begin = rank * per
    mine = data[begin:] if rank == world - 1 else data[begin : begin + per]
    for sample in mine:  # expect: DST113
        model(sample).mean().backward()
