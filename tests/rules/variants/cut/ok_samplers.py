"""Samplers that give each rank as many numbers."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Sampler


class Padded(Sampler):
    def __init__(self, data):
        self.data = data
        self.rank = dist.get_rank()
        self.world = dist.get_world_size()
        self.num_samples = math.ceil(len(data) / self.world)
        self.total_size = self.num_samples * self.world

    def __iter__(self):
        indices = list(range(len(self.data)))
        indices += indices[: self.total_size - len(indices)]
        return iter(indices[self.rank : self.total_size : self.world])

    def __len__(self):
        return self.num_samples


class PaddedBefore(Sampler):
    def __init__(self, data, rank, world):
        indices = list(range(len(data)))
        indices = indices + indices[: -len(indices) % world]
        self.indices = indices[rank::world]

    def __iter__(self):
        return iter(self.indices)


class CutBefore(Sampler):
    def __init__(self, data, rank, world):
        per = len(data) // world
        self.indices = range(rank * per, (rank + 1) * per)

    def __iter__(self):
        yield from self.indices


class Endless(Sampler):
    def __init__(self, data, rank, world):
        self.indices = list(range(len(data)))[rank::world]

    def __iter__(self):
        while True:
            yield from self.indices


class Limited(Sampler):
    def __init__(self, data, rank, world, steps):
        self.steps = steps
        self.indices = list(range(len(data)))[rank::world]

    def __iter__(self):
        for _, index in zip(range(self.steps), self.indices):
            yield index


class Weighted(Sampler):
    def __init__(self, data, rank, world):
        self.own = data[rank::world]
        self.count = len(data) // world

    def __iter__(self):
        return iter(torch.randint(len(self.own), (self.count,)).tolist())

    def __len__(self):
        return self.count


dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def train(loader):
    for batch in loader:
        model(batch).sum().backward()


def main(data):
    for sampler in (
        Padded(data),
        PaddedBefore(data, rank, world),
        CutBefore(data, rank, world),
        Limited(data, rank, world, 100),
        Weighted(data, rank, world),
    ):
        train(DataLoader(data, 4, sampler=sampler))
    train(DataLoader(data, sampler=Padded(data)))
    train(DataLoader(data, sampler=PaddedBefore(data, rank, world)))
    train(DataLoader(data, sampler=CutBefore(data, rank, world)))
    train(DataLoader(data, sampler=Limited(data, rank, world, 100)))
    train(DataLoader(data, sampler=Weighted(data, rank, world)))
    for step, batch in zip(range(100), DataLoader(data, sampler=Endless(data, rank, world))):
        model(batch).sum().backward()


class PaddedThere(Sampler):
    def __init__(self, data, rank, world_size):
        self.data, self.rank, self.world_size = data, rank, world_size

    def __iter__(self):
        order = torch.randperm(len(self.data)).tolist()
        order += order[: -len(order) % self.world_size]
        yield from order[self.rank :: self.world_size]


class UpToTheTotal(Sampler):
    def __init__(self, data, rank, world_size):
        self.rank, self.world_size = rank, world_size
        self.total_size = len(data) // world_size * world_size

    def __iter__(self):
        return iter(range(self.rank, self.total_size, self.world_size))


def others(data):
    train(DataLoader(data, sampler=PaddedThere(data, rank, world)))
    train(DataLoader(data, sampler=UpToTheTotal(data, rank, world)))
    for batch in DataLoader(data, sampler=PaddedThere(data, rank, world)):
        model(batch).sum().backward()
    for batch in DataLoader(data, sampler=UpToTheTotal(data, rank, world)):
        model(batch).sum().backward()
