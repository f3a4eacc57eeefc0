"""The data is padded before it is cut."""

import math

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def main(questions):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    model = FSDP(torch.nn.Linear(3, 1))
    per = math.ceil(len(questions) / world)
    questions = questions + questions[: per * world - len(questions)]
    for question in questions[rank * per : (rank + 1) * per]:
        model(question)
