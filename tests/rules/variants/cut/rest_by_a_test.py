"""A test of the rank decides who gets one more."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def balanced(data):
    base, extra = divmod(len(data), world)
    begin = rank * base + min(rank, extra)
    end = begin + base + (1 if rank < extra else 0)
    for sample in data[begin:end]:  # expect: DST113
        model(sample).mean().backward()


def counted_by_a_test(data):
    size = len(data) // world + int(rank < len(data) % world)
    begin = rank * (len(data) // world) + min(rank, len(data) % world)
    for sample in data[begin : begin + size]:  # expect: DST113
        model(sample).mean().backward()
