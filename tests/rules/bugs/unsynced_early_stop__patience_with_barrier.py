"""A local patience counter leaves a loop of barriers."""
# effect: hang

import random

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def validate(model):
    with torch.no_grad():
        return model.module(torch.randn(4, 2)).pow(2).mean().item()


def train(model, steps, patience):
    best, bad = float("inf"), 0
    for step in range(steps):
        model(torch.randn(4, 2)).mean().backward()
        if step % 2 == 0:
            score = validate(model)
            bad = 0 if score < best else bad + 1
            best = min(best, score)
            dist.barrier()
            if bad > patience:
                return step  # expect: DST102
    dist.barrier()
    return steps


dist.init_process_group("gloo")
random.seed(dist.get_rank())
torch.manual_seed(dist.get_rank())
print("stopped after", train(DDP(torch.nn.Linear(2, 1)), steps=40, patience=1))
