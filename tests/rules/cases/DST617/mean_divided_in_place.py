"""``/=``: the mean of one rank, which it reports."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def evaluate(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    val_loss, hits, seen = 0.0, 0, 0
    with torch.no_grad():
        for x, y in val_loader:
            val_loss += model(x).mean().item()
            hits += (model(x).argmax(1) == y).sum().item()
            seen += len(y)
    val_loss /= len(val_loader)  # expect: DST617
    hits /= seen  # expect: DST617
    if rank == 0:
        print(val_loss, hits)


def reduced(model, data, rank):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    val_loss = torch.zeros(1)
    with torch.no_grad():
        for x, _ in val_loader:
            val_loss += model(x).mean()
    val_loss /= len(val_loader)
    dist.all_reduce(val_loss)
    if rank == 0:
        print(val_loss / dist.get_world_size())


def on_each_rank(model, data):
    val_loader = DataLoader(data, 4, sampler=DistributedSampler(data))
    val_loss = 0.0
    with torch.no_grad():
        for x, _ in val_loader:
            val_loss += model(x).mean().item()
    val_loss /= len(val_loader)
    print(f"rank {dist.get_rank()}: {val_loss}")
