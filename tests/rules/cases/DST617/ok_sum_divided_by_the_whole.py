"""The twins: reduced, counted per rank, of data that each rank has as a whole."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def reduced(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    hits = torch.zeros(1)
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum()
    dist.all_reduce(hits)
    hits /= len(data)
    return hits


def reduced_in_each_step(model, optimizer, data, size):
    loader = DataLoader(data, batch_size=size, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        shared = loss.detach().clone()
        dist.all_reduce(shared)
        total += shared.item()
    return total / (len(data) // size)


def hits_of_gathered(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    hits = 0
    for x, y in loader:
        own = torch.cat([model(x).argmax(1), y])
        parts = [torch.zeros_like(own) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, own)
        hits += sum(
            (part[: len(part) // 2] == part[len(part) // 2 :]).sum().item() for part in parts
        )
    return hits / len(data)


def for_the_caller(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    total = torch.zeros(1)
    for x, _ in loader:
        total += model(x).sum()
    return total / len(data)


def caller(model, data):
    mean = for_the_caller(model, data)
    dist.all_reduce(mean)
    return mean


def per_rank(model, data, size):
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=size, sampler=sampler)
    total, world_size = 0.0, dist.get_world_size()
    for x, _ in loader:
        total += model(x).mean().item()
    print(total / (len(data) // (size * world_size)), total / (len(sampler) // size))
    return total / (len(data) // size // world_size)


def batch_of_all_ranks(model, data, size):
    """The size is that of the batches of all ranks together."""
    own = size // dist.get_world_size()
    loader = DataLoader(data, batch_size=own, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        total += model(x).mean().item()
    return total / (len(data) // size)


def multiplied(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    total = 0.0
    for x, _ in loader:
        total += model(x).sum().item()
    total *= dist.get_world_size()
    return total / len(data)


def of_the_whole(model, data, size):
    loader = DataLoader(data, batch_size=size)
    total = 0.0
    for x, _ in loader:
        total += model(x).mean().item()
    return total / (len(data) // size) + total / len(data)


def of_other_data(model, train, val):
    loader = DataLoader(train, 4, sampler=DistributedSampler(train))
    total = 0.0
    for x, _ in loader:
        total += model(x).sum().item()
    return total / len(val)


def progress(model, data):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    seen = 0
    for x, _ in loader:
        model(x)
        seen += 4
        print(seen / len(data))
