"""The barrier is in the arm of the missing file: a rank that looks later passes it by."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if os.path.exists(path):
        return torch.load(path)  # expect: DST408
    if dist.get_rank() == 0:
        torch.save(data, path)
    dist.barrier()
    return torch.load(path)


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
