"""Contiguous parts of which all ranks have as many."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def train(sample):
    model(sample).mean().backward()


def rounded_down(data):
    size = len(data) // world
    for sample in data[rank * size : (rank + 1) * size]:
        train(sample)


def padded(dataset):
    size = math.ceil(len(dataset) / world)
    indices = list(range(len(dataset)))
    indices += indices[: size * world - len(indices)]
    for index in indices[rank * size : (rank + 1) * size]:
        train(dataset[index])


def cut(data):
    data = data[: len(data) - len(data) % world]
    size = len(data) // world
    for sample in data[rank * size : rank * size + size]:
        train(sample)


def the_same_for_all(data):
    size = math.ceil(len(data) / world)
    for sample in data[:size]:
        train(sample)


def without_a_collective(data):
    size = math.ceil(len(data) / world)
    for sample in data[rank * size : (rank + 1) * size]:
        print(sample)


def cut_and_divided(data):
    size = (len(data) - len(data) % world) // world
    for sample in data[rank * size : (rank + 1) * size]:
        train(sample)
