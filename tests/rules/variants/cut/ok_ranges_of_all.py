"""Numbers of which each rank has as many, or which have nothing to do with the rank."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def train(sample):
    model(sample).mean().backward()


def rounded_up_and_wrapped_around(data):
    per = math.ceil(len(data) / world)
    for number in range(rank * per, (rank + 1) * per):
        train(data[number % len(data)])


def rounded_down(data):
    per = len(data) // world
    for number in range(rank * per, (rank + 1) * per):
        train(data[number])


def cut_first(data):
    size = len(data) - len(data) % world
    per = size // world
    for number in range(rank * per, (rank + 1) * per):
        train(data[number])


def all_of_it(data):
    quotient, rest = divmod(len(data), world)
    for number in range(quotient):
        train(data[number * world + rank])
    if rank == 0:
        print(rest)


def next_tokens(data):
    per = (len(data) - 1) // world
    part = data[rank * per : (rank + 1) * per + 1]
    for number in range(per):
        train(part[number])


def tensors(x, layers):
    part = torch.chunk(x, world, dim=1)[rank]
    if part.shape[0] > 1:
        dist.all_reduce(part)
    for layer in layers:
        train(layer(part))


def shifted_by_the_rest(data):
    size, rest = divmod(len(data), world)
    start = size * rank + min(rank, rest)
    for sample in data[start : start + size]:
        train(sample)


def shifted_and_limited(data):
    size, rest = divmod(len(data), world)
    start = size * rank + min(rank, rest)
    for number in range(start, min(start + size, len(data))):
        train(data[number])
