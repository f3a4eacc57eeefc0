"""Rank 0 computes and saves for itself; a rank that comes later may find half of the file."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if os.path.exists(path):
        found = torch.load(path)  # expect: DST408
    else:
        found = data.mean(0)
        if dist.get_rank() == 0:
            torch.save(found, path)
    return found


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
