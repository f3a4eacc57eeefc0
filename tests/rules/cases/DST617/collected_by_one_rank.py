"""The values of one rank are collected, and their mean is taken for that of all."""

import os
import statistics

import lightning as L
import numpy as np
import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def list(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = []
    for x in val_loader:
        losses.append(model(x).mean().item())
    mean = np.mean(losses)  # expect: DST617
    if rank == 0:
        print(mean)


def sum_by_length(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    scores = []
    for x in val_loader:
        scores.append(float(model(x).mean()))
    if rank == 0:
        print(sum(scores) / len(scores))  # expect: DST617


def stacked(model, data, args):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    all_losses = []
    with torch.no_grad():
        for x in val_loader:
            all_losses.append(model(x))
    loss = torch.stack(all_losses).mean().item()  # expect: DST617
    if args.local_rank == 0 and loss < args.best:
        torch.save(model.state_dict(), "best.pt")


class Trainer:
    def __init__(self, net, data):
        self.rank = int(os.environ["RANK"])
        dist.init_process_group("nccl")
        self.loader = DataLoader(data, 4, sampler=DistributedSampler(data, shuffle=False))

    @torch.no_grad()
    def validate(self):
        found = []
        for x in self.loader:
            found.extend(self.model(x).tolist())
        return statistics.mean(found)  # expect: DST617

    def train(self):
        score = self.validate()
        if self.rank == 0:
            print(score)


def tensor_of_list(model, data, rank):
    test_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    scores = []
    for x in test_loader:
        score = model(x).mean()
        scores.append(score)
    scores = torch.tensor(scores)
    result = scores.mean()  # expect: DST617
    if rank == 0:
        print(result)


def accelerator_log(net, data):
    accelerator = Accelerator()
    model, val_loader = accelerator.prepare(net, DataLoader(data, batch_size=4))
    total = 0.0
    with torch.no_grad():
        for batch in val_loader:
            total += model(batch).mean().item()
    accelerator.log({"val": total / len(val_loader)})  # expect: DST617


def accelerator_print(net, data):
    accelerator = Accelerator()
    model, val_loader = accelerator.prepare(net, DataLoader(data, batch_size=4))
    losses = []
    with torch.no_grad():
        for batch in val_loader:
            losses.append(model(batch).mean().item())
    mean = torch.tensor(losses).mean()  # expect: DST617
    accelerator.print(f"loss {mean}")


def by_loader_length(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    losses = []
    for x in val_loader:
        losses.append(model(x).mean().item())
    mean = sum(losses) / len(val_loader)  # expect: DST617
    if rank == 0:
        print(mean)


def torch_mean(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    per_batch = torch.empty(len(val_loader))
    for i, x in enumerate(val_loader):
        per_batch[i] = model(x).mean()
    if rank == 0:
        print(torch.mean(per_batch))  # expect: DST617


def loader_made_elsewhere(net, data):
    accelerator = Accelerator()
    train_loader, eval_loader = data.loaders()
    model, train_loader, eval_loader = accelerator.prepare(net, train_loader, eval_loader)
    losses = []
    for batch in eval_loader:
        losses.append(model(batch).mean().item())
    accelerator.log({"loss": np.mean(losses)})  # expect: DST617


def final(fabric, net, data):
    fabric = L.Fabric(devices=8)
    model, loader = fabric.setup(net), fabric.setup_dataloaders(data.val_loader())
    fit(fabric, model, loader)
    loss = mean_loss(model, loader)
    fabric.print(f"{loss:.3f}")


def fit(fabric, model, loader):
    shown = mean_loss(model, loader)
    fabric.all_reduce(shown)
    fabric.print(shown)


@torch.no_grad()
def mean_loss(model, loader):
    losses = []
    for batch in loader:
        losses.append(model(batch))
    return torch.stack(losses).mean()  # expect: DST617
