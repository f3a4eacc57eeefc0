"""The ranks meet in the block around the write."""

import os
from contextlib import contextmanager

import torch
import torch.distributed as dist


@contextmanager
def together():
    dist.barrier()
    yield dist.get_rank()


def features(data, path):
    if os.path.exists(path):
        return torch.load(path)
    found = data.mean(0)
    with together() as rank:
        if rank == 0:
            torch.save(found, path)
    return found


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
