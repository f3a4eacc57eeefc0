"""The rest is left out, so that all ranks have as many."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(questions):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = FSDP(torch.nn.Linear(3, 1))
    per = len(questions) // world
    start, end = rank * per, (rank + 1) * per
    for question in questions[start:end]:
        model(question)
