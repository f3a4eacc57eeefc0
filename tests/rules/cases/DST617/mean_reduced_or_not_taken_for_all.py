import os

import torch
import torch.distributed as dist
from meters import reduce_mean
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def reduced_before(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    loss = torch.zeros(1).cuda()
    for x in val_loader:
        loss += model(x).mean()
    dist.all_reduce(loss)
    mean = loss / len(val_loader) / dist.get_world_size()
    if rank == 0:
        print(mean)


def reduced_by_a_helper(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    loss = 0
    for x in val_loader:
        loss += model(x).mean()
    loss = reduce_mean(loss / len(val_loader))
    if rank == 0:
        print(loss)


def reduced_as_a_pair(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    hits, seen = 0, 0
    for x, y in val_loader:
        hits += (model(x) == y).sum().item()
        seen += len(y)
    pair = torch.tensor([hits, seen]).cuda()
    dist.all_reduce(pair)
    local = hits / seen
    if rank == 0:
        print(pair, local)


def gathered_in_the_loop(accelerator, model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    hits, seen = 0, 0
    for x, y in val_loader:
        out, y = accelerator.gather((model(x), y))
        hits += (out == y).sum().item()
        seen += len(y)
    if rank == 0:
        print(hits / seen)


def all_of_the_data(model, data, rank):
    val_loader = DataLoader(data, 4)
    loss = 0
    for x in val_loader:
        loss += model(x).mean()
    if rank == 0:
        print(loss / len(val_loader))


def told_by_each_rank(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    loss = 0
    for x in val_loader:
        loss += model(x).mean()
    print(rank, loss / len(val_loader))


def training(model, data, rank, optimizer):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    total = 0
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if rank == 0:
        print(total / len(loader))


def validate(model, val_loader):
    loss = 0
    for x in val_loader:
        loss += model(x).mean()
    return loss / len(val_loader)


def reduced_by_the_caller(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    loss = validate(model, val_loader)
    dist.all_reduce(loss)
    if rank == 0:
        print(loss)
