"""Uneven parts that go through equal_steps(): as many turns on all ranks, with data of their own."""

import torch
import torch.distributed as dist
from distlint.runtime import equal_steps
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
model = DDP(torch.nn.Linear(3, 1))


class Rows(IterableDataset):
    def __init__(self, rows):
        self.mine = rows[rank::world]

    def __iter__(self):
        yield from self.mine


def train(sample):
    loss = model(sample).mean()
    loss.backward()
    return loss


def of_a_slice(data):
    for sample in equal_steps(data[rank::world]):
        train(sample)


def of_bounds(data):
    size = len(data)
    for sample in equal_steps(data[rank * size // world : (rank + 1) * size // world]):
        train(sample)


def where_the_last_gets_the_rest(data):
    per = len(data) // world
    end = (rank + 1) * per if rank != world - 1 else len(data)
    for sample in equal_steps(data[rank * per : end]):
        train(sample)


def of_a_loader(rows):
    for sample in equal_steps(DataLoader(Rows(rows), batch_size=4)):
        train(sample)


def numbered(rows):
    loader = equal_steps(DataLoader(Rows(rows), batch_size=4))
    for step, sample in enumerate(loader):
        if step == 100:
            break
        train(sample)


def until_a_loss_is_small(rows):
    for sample in equal_steps(DataLoader(Rows(rows), batch_size=4)):
        if train(sample).item() < 0.1:
            break  # expect: DST102
