"""A sum of one rank, divided by the number of samples or batches of all."""

import math

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler
from tqdm import tqdm


def batches(model, optimizer, data, rank, batch_size):
    loader = DataLoader(data, batch_size=batch_size, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    steps = len(data) // batch_size
    if rank == 0:
        print("loss", total / steps)  # expect: DST617


def samples(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    hits = 0
    for x, y in tqdm(loader):
        hits += (model(x).argmax(1) == y).sum().item()
    return hits / len(data)  # expect: DST617


def in_place(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    hits = torch.zeros(1)
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum()
    hits /= len(data)  # expect: DST617
    return hits


def in_place_by_the_loader(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        total += model(x).sum().item()
    total /= len(loader.dataset)  # expect: DST617
    return total


def rounded_up(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        total += model(x).mean().item()
    return total / math.ceil(len(data) / 4)  # expect: DST617


def by_the_data_of_the_loader(model, data, size):
    loader = DataLoader(data, batch_size=size, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        total += model(x).mean().item()
    return total / max(len(loader.dataset) // size, 1)  # expect: DST617


def counted_before(model, make):
    data = make()
    count = len(data)
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    total = torch.zeros(())
    for x, _ in loader:
        total += model(x).sum()
    print(f"{total.item() / count:.3f}")  # expect: DST617


class Trainer:
    def __init__(self, model, data, size):
        self.model, self.data, self.size = model, data, size
        sampler = DistributedSampler(self.data)
        self.loader = DataLoader(self.data, batch_size=self.size, sampler=sampler)

    def epoch(self):
        total = 0.0
        for x, _ in self.loader:
            total += self.model(x).mean().item()
        print(total / (len(self.data) // self.size))  # expect: DST617


def of_gathered_embeddings(model, optimizer, data, rank, size):
    loader = DataLoader(data, batch_size=size, sampler=DistributedSampler(data))
    total = 0.0
    for x, y in loader:
        own = model(x)
        others = [torch.zeros_like(own) for _ in range(dist.get_world_size())]
        dist.all_gather(others, own)
        others[rank] = own
        loss = contrast(torch.cat(others), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if rank == 0:
        print(total / (len(data) // size))  # expect: DST617
