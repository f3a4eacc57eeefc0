"""numpy divides, and the first parts may be longer."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

import numpy as np


def main(data):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(3, 1))
    shard = np.array_split(data, dist.get_world_size())[dist.get_rank()]
    for row in shard:  # expect: DST113
        model(torch.from_numpy(row)).mean().backward()
