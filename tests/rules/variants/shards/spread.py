"""Parts that begin at the rank's share of the length: some have one item more than others."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def train(sample):
    model(sample).mean().backward()


def share(data):
    size = len(data)
    for sample in data[rank * size // world : (rank + 1) * size // world]:  # expect: DST113
        train(sample)


def named(data):
    n = len(data)
    start, end = n * rank // world, n * (rank + 1) // world
    kept = [each for each in data[start:end] if each.sum() > 0]
    for sample in kept:  # expect: DST113
        train(sample)


def by_index(data):
    for i in range(rank * len(data) // world, (rank + 1) * len(data) // world):  # expect: DST113
        train(data[i])


def even(data):
    n = len(data) - len(data) % world
    data = data[:n]
    for sample in data[rank * n // world : (rank + 1) * n // world]:
        train(sample)


def asserted(data):
    n = len(data)
    assert n % world == 0
    for sample in data[rank * n // world : (rank + 1) * n // world]:
        train(sample)


def whole(data):
    size = len(data) // world
    for sample in data[rank * size : (rank + 1) * size]:
        train(sample)
