"""The length is that of a tensor, or it is not known what a batch is."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def tensor(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, hits = 0, 0.0
    for batch in loader:
        n += len(batch)
        hits += model(batch.cuda()).sum().item()
    return hits / n


def collate(model, ds):
    loader = DataLoader(
        ds, 8, sampler=DistributedSampler(ds, shuffle=False), collate_fn=lambda b: b
    )
    n, hits = 0, 0.0
    for batch in loader:
        n += len(batch)
        hits += model(batch[0]["image"].cuda()).sum().item()
    return hits / n


def length_of_labels(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, hits = 0, 0.0
    for batch in loader:
        n += len(batch[1])
        hits += (model(batch[0]) == batch[1]).sum().item()
    return hits / n


def unpacked_at_once(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n = 0
    for x, y in loader:
        model(x, y)
        n += len(x)
    return n


def first_sample_shown(model, ds, show):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, total = 0, 0
    for batch in loader:
        total += model(batch).sum().item()
        n += len(batch)
        show(batch[0])
    return total / n


def checked(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    for batch in loader:
        assert len(batch) == 2
        x, y = batch
        model(x, y)


def rebound(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, total = 0, 0
    for batch in loader:
        batch = batch[0].cuda()
        total += model(batch).sum().item()
        n += len(batch)
    return total / n


def slices(model, ds):
    loader = DataLoader(ds, 8, sampler=DistributedSampler(ds, shuffle=False))
    n, total = 0, 0
    for batch in loader:
        total += model(batch[:, :-1].cuda(), batch[:, 1:].cuda()).sum().item()
        n += len(batch)
    return total / n


def all_of_the_data(model, ds):
    loader = DataLoader(ds, 8)
    n = 0
    for batch in loader:
        n += len(batch)
        model(batch[0].cuda())
    return n


def rows(model, ds):
    loader = DataLoader(ds, 2, sampler=DistributedSampler(ds, shuffle=False))
    n, total = 0, 0
    for pair in loader:
        left, right = pair
        total += (model(left) - model(right)).item()
        n += len(pair) * left.shape[0]
    return total / n
