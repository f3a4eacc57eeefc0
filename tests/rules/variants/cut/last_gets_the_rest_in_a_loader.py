"""The last rank has what is left over, in loaders, data sets and ranges."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


def loader(data):
    per = len(data) // world
    if rank == world - 1:
        mine = data[rank * per :]
    else:
        mine = data[rank * per : (rank + 1) * per]
    for x in DataLoader(mine, batch_size=8):  # expect: DST113
        model(x).mean().backward()


def bounds(data):
    per = len(data) // world
    start = rank * per
    end = (rank + 1) * per
    if rank == world - 1:
        end = len(data)
    for x in DataLoader(data[start:end], batch_size=8):  # expect: DST113
        model(x).mean().backward()


class Part(Dataset):
    def __init__(self, data, rank, world_size):
        per = len(data) // world_size
        start = rank * per
        end = start + per if rank < world_size - 1 else len(data)
        self.samples = data[start:end]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


def main(data):
    part = Part(data, rank, world)
    for x in DataLoader(part, batch_size=8):  # expect: DST113
        model(x).mean().backward()


class Own(Dataset):
    def __init__(self, data):
        self.data = data
        per = len(self.data) // dist.get_world_size()
        start = dist.get_rank() * per
        if dist.get_rank() == dist.get_world_size() - 1:
            self.samples = self.data[start:]
        else:
            self.samples = self.data[start : start + per]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        return self.samples[index]


def other(data):
    own = DataLoader(Own(data), batch_size=8, shuffle=True)
    for epoch in range(3):
        for x in own:  # expect: DST113
            model(x).mean().backward()


def range_of(data):
    per = len(data) // world
    start = rank * per
    stop = len(data) if rank == world - 1 else start + per
    for i in range(start, stop):  # expect: DST113
        model(data[i]).mean().backward()
