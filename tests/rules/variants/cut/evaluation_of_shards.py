"""A sharded model answers questions, of which the last rank has fewer."""

import math

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


@torch.no_grad()
def evaluate(model, questions):
    rank, world = dist.get_rank(), dist.get_world_size()
    size = math.ceil(len(questions) / world)
    answers = []
    for question in questions[rank * size : (rank + 1) * size]:  # expect: DST113
        answers.append(model(question))
    return answers


def main(questions):
    dist.init_process_group("nccl")
    model = FSDP(torch.nn.Linear(3, 1))
    model.eval()
    print(len(evaluate(model, questions)))
