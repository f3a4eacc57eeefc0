"""A function reduces the running total, or what is kept under a name, in each iteration."""

import torch
import torch.distributed as dist


def add_up(value):
    dist.all_reduce(value)


def count(loader):
    total = torch.zeros(1)
    for batch in loader:
        total += len(batch)
        add_up(total)  # expect: DST617
    return total.item()


def count_by_name(loader):
    found = {"total": torch.zeros(1)}
    for batch in loader:
        found["total"] += len(batch)
        dist.all_reduce(found["total"])  # expect: DST617
    return found["total"].item()
