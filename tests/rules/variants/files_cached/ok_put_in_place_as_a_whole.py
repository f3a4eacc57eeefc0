"""The file gets its name when it is complete."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if os.path.exists(path):
        return torch.load(path)
    found = data.mean(0)
    if dist.get_rank() == 0:
        torch.save(found, path + ".part")
        os.replace(path + ".part", path)
    return found


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
