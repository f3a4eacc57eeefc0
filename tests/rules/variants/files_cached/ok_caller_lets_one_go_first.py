"""The caller lets rank 0 go first."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if os.path.exists(path):
        return torch.load(path)
    found = data.mean(0)
    if dist.get_rank() == 0:
        torch.save(found, path)
    return found


def main(data):
    dist.init_process_group("gloo")
    if dist.get_rank() > 0:
        dist.barrier()
    features(data, "features.pt")
    if dist.get_rank() == 0:
        dist.barrier()
