"""The number of turns is the same on all ranks, whatever the part."""

import math

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(questions):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = FSDP(torch.nn.Linear(3, 1))
    per = math.ceil(len(questions) / world)
    mine = questions[rank * per : (rank + 1) * per]
    for step in range(per):
        model(mine[min(step, len(mine) - 1)])
