"""Each rank looks, computes and saves: a rank may find a file of which another has half."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if os.path.exists(path):
        return torch.load(path)
    found = data.mean(0)
    torch.save(found, path)  # expect: DST406
    return found


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
