"""The other ranks look for the file after rank 0 has been there."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if dist.get_rank() != 0:
        dist.barrier()
    if os.path.exists(path):
        found = torch.load(path)
    else:
        found = data.mean(0)
        if dist.get_rank() == 0:
            torch.save(found, path)
    if dist.get_rank() == 0:
        dist.barrier()
    return found


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
