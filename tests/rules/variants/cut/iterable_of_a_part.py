"""Iterable data sets that go through a part which they have taken before."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset


class Files(IterableDataset):
    def __init__(self, files):
        rank, world = dist.get_rank(), dist.get_world_size()
        self.files = files[rank::world]

    def __iter__(self):
        for file in self.files:
            with open(file) as lines:
                yield from lines


class Rows(IterableDataset):
    def __init__(self, rows, rank, world_size):
        super().__init__()
        per = len(rows) // world_size
        first = rank * per
        self.mine = rows[first:] if rank == world_size - 1 else rows[first : first + per]

    def __iter__(self):
        return iter(self.mine)


class Endless(IterableDataset):
    def __init__(self, rows, rank, world_size):
        self.mine = rows[rank::world_size]

    def __iter__(self):
        while True:
            for row in self.mine:
                yield row


def main(files, rows):
    dist.init_process_group("gloo")
    model = DDP(torch.nn.Linear(3, 1))
    for batch in DataLoader(Files(files), batch_size=4):  # expect: DST113
        model(batch).mean().backward()
    rank, world = dist.get_rank(), dist.get_world_size()
    for batch in DataLoader(Rows(rows, rank, world), batch_size=4):  # expect: DST113
        model(batch).mean().backward()
    for step, batch in enumerate(DataLoader(Endless(rows, rank, world), batch_size=4)):
        model(batch).mean().backward()
        if step == 100:
            break
