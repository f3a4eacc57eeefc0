"""Each rank has a file of its own."""

import os

import torch
import torch.distributed as dist


def features(data, folder):
    path = os.path.join(folder, f"features_{dist.get_rank()}.pt")
    if os.path.exists(path):
        return torch.load(path)
    found = data.mean(0)
    torch.save(found, path)
    return found


def main(data):
    dist.init_process_group("gloo")
    features(data, "cache")
