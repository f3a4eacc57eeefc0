"""The data is padded or cut before each rank takes every so-manieth sample, or a block."""

import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def padded(data):
    data = data + data[: -len(data) % world]
    for x in data[rank::world]:
        model(x).mean().backward()


def padded_in_place(data):
    data += data[: -len(data) % world]
    for number in range(rank, len(data), world):
        model(data[number]).mean().backward()


def filled_up(data):
    total = math.ceil(len(data) / world) * world
    data = data + data[: total - len(data)]
    for x in data[rank::world]:
        model(x).mean().backward()


def cut(data):
    kept = data[: len(data) // world * world]
    for x in kept[rank::world]:
        model(x).mean().backward()


def up_to_the_even_part(data):
    even = len(data) - len(data) % world
    for number in range(rank, even, world):
        model(data[number]).mean().backward()


def checked(data):
    assert len(data) % world == 0
    for number in range(rank, len(data), world):
        model(data[number]).mean().backward()


def nothing_in_the_loop(data):
    total = torch.zeros(1)
    for number in range(rank, len(data), world):
        total += data[number]
    dist.all_reduce(total)


def last_alone(data):
    per = len(data) // world
    mine = data[rank * per :] if rank == world - 1 else data[rank * per : (rank + 1) * per]
    total = torch.zeros(1)
    for x in mine:
        total += x
    dist.all_reduce(total)


def steps_of_all(data):
    per = len(data) // world
    mine = data[rank * per :] if rank == world - 1 else data[rank * per : (rank + 1) * per]
    for number in range(per):
        model(mine[number]).mean().backward()


class Even(Dataset):
    def __init__(self, data, rank, world):
        per = len(data) // world
        self.samples = data[rank * per : (rank + 1) * per]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


class Steps(Dataset):
    def __init__(self, data, rank, world):
        self.samples = data[rank::world]
        self.count = len(data) // world

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return self.samples[index]


class Least(Dataset):
    def __init__(self, data, rank, world):
        self.samples = data[rank::world]
        self.limit = len(data) // world

    def __len__(self):
        return min(len(self.samples), self.limit)

    def __getitem__(self, index):
        return self.samples[index]


class Other(Dataset):
    """What it has of this rank only is not what it goes through."""

    def __init__(self, data, rank, world):
        self.samples = data
        self.own = data[rank::world]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index], self.own[0]


def train(loader):
    for x in loader:
        model(x).mean().backward()


def main(data):
    train(DataLoader(Even(data, rank, world), batch_size=4))
    train(DataLoader(Steps(data, rank, world), batch_size=4))
    train(DataLoader(Least(data, rank, world), batch_size=4))
    train(DataLoader(Other(data, rank, world), batch_size=4))
