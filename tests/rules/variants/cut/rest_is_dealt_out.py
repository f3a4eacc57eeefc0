"""The first ranks get one more of what is left."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def ends_at_the_next(data):
    base, extra = divmod(len(data), world)
    begin = rank * base + min(rank, extra)
    end = (rank + 1) * base + min(rank + 1, extra)
    for sample in data[begin:end]:  # expect: DST113
        model(sample).mean().backward()
