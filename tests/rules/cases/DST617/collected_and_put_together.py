"""What is collected is put together, or not taken for that of all."""

import time

import lightning as L
import numpy as np
import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def gathered(accelerator, model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = []
    for x in val_loader:
        losses.append(accelerator.gather_for_metrics(model(x)))
    mean = torch.cat(losses).mean()
    if rank == 0:
        print(mean)


def reduced(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = torch.zeros(100)
    for i, x in enumerate(val_loader):
        losses[i] = model(x).mean()
    mean = losses.mean()
    dist.all_reduce(mean)
    if rank == 0:
        print(mean)


def gathered_objects(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = []
    for x in val_loader:
        losses.append(model(x).mean().item())
    every = [None] * dist.get_world_size()
    dist.all_gather_object(every, losses)
    if rank == 0:
        print(np.mean(every), np.mean(losses))


def all_data(model, data, rank):
    val_loader = DataLoader(data, 4)
    losses = []
    for x in val_loader:
        losses.append(model(x).mean().item())
    if rank == 0:
        print(np.mean(losses))


def each_rank(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = []
    for x in val_loader:
        losses.append(model(x).mean().item())
    print(rank, np.mean(losses))


def training(model, data, rank, opt):
    loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = []
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        losses.append(loss.item())
    if rank == 0:
        print(np.mean(losses))


@torch.no_grad()
def reduced_mean(fabric, model, loader):
    losses = torch.zeros(100, device=fabric.device)
    for k, batch in enumerate(loader):
        losses[k] = model(batch).mean().item()
    return fabric.all_reduce(losses.mean())


def reduced_before_it_is_returned():
    fabric = L.Fabric(devices=8, strategy="ddp")
    fabric.launch()
    model = fabric.setup(torch.nn.Linear(3, 3))
    loader = fabric.setup_dataloaders(DataLoader(torch.ones(64, 3), batch_size=4))
    val_loss = reduced_mean(fabric, model, loader)
    fabric.log_dict({"metric/val_loss": val_loss.item()}, 0)


@torch.no_grad()
def mean_loss(fabric, model, loader):
    losses = torch.zeros(100, device=fabric.device)
    for k, batch in enumerate(loader):
        losses[k] = model(batch).mean().item()
    out = losses.mean()
    model.train()
    return out


def reduced_by_the_caller():
    fabric = L.Fabric(devices=8, strategy="ddp")
    fabric.launch()
    model = fabric.setup(torch.nn.Linear(3, 3))
    loader = fabric.setup_dataloaders(DataLoader(torch.ones(64, 3), batch_size=4))
    val_loss = mean_loss(fabric, model, loader)
    fabric.all_reduce(val_loss)
    fabric.log_dict({"metric/val_loss": val_loss.item()}, 0)


def gathered_for_metrics(net, data):
    accelerator = Accelerator()
    model, val_loader = accelerator.prepare(net, DataLoader(data, batch_size=4))
    losses = []
    with torch.no_grad():
        for batch in val_loader:
            loss = model(batch)
            losses.append(accelerator.gather_for_metrics(loss.repeat(4)))
    losses = torch.cat(losses)
    accelerator.print(torch.mean(losses))


def not_filled(net, data):
    accelerator = Accelerator()
    model, val_loader = accelerator.prepare(net, DataLoader(data, batch_size=4))
    times = []
    for batch in val_loader:
        model(batch)
    accelerator.print(np.mean(times))


def times(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    times, spent = [], 0.0
    for x in val_loader:
        start = time.time()
        model(x)
        times.append(time.time() - start)
        spent += time.time() - start
    if rank == 0:
        print(np.mean(times), spent / len(val_loader))


def made_elsewhere(net, args):
    accelerator = Accelerator()
    model, test_set = accelerator.prepare(net, make(args))
    losses = []
    for batch in test_set:
        losses.append(model(batch).item())
    accelerator.print(np.mean(losses))
