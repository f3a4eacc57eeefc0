"""Each rank has all of the model, and works through its part alone."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@torch.no_grad()
def main(questions):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = DDP(torch.nn.Linear(3, 1))
    size = math.ceil(len(questions) / world)
    total = torch.zeros(1)
    for question in questions[rank * size : (rank + 1) * size]:
        total += model.module(question).sum()
    dist.all_reduce(total)
