"""Contiguous parts of which the length is rounded up: the last ranks get less, or nothing."""

import math

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def train(sample):
    model(sample).mean().backward()


def ceiled(data):
    size = math.ceil(len(data) / world)
    for sample in data[rank * size : (rank + 1) * size]:  # expect: DST113
        train(sample)


def by_numpy(data):
    size = int(np.ceil(len(data) / world))
    start = rank * size
    for sample in data[start : start + size]:  # expect: DST113
        train(sample)


def rounded_by_hand(data):
    size = (len(data) + world - 1) // world
    for sample in data[size * rank : size * (rank + 1)]:  # expect: DST113
        train(sample)


def up_to_the_end(data):
    size = math.ceil(len(data) / world)
    end = min((rank + 1) * size, len(data))
    for sample in data[rank * size : end]:  # expect: DST113
        train(sample)


def of_a_function(data):
    for sample in part(data):  # expect: DST113
        train(sample)


def part(items):
    each = math.ceil(len(items) / dist.get_world_size())
    first = dist.get_rank() * each
    return items[first : first + each]


def negated(data):
    size = -(-len(data) // world)
    for sample in data[rank * size : rank * size + size]:  # expect: DST113
        train(sample)
