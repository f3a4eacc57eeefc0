"""Names of files."""

import os

import torch.distributed as dist


def file_of(folder, rank, total):
    index = rank + total
    return os.path.join(folder, f"{index:06d}.npz")


def part_name(folder, part):
    return f"{folder}/{part}.npy"


def numbered(folder):
    return os.path.join(folder, f"{dist.get_rank()}.npy")
