"""Rank 0 loads or computes, and sends what it has."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    box = [None]
    if dist.get_rank() == 0:
        if os.path.exists(path):
            box[0] = torch.load(path)
        else:
            box[0] = data.mean(0)
            torch.save(box[0], path)
    dist.broadcast_object_list(box, src=0)
    return box[0]


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
