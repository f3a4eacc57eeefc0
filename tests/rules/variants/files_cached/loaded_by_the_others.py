"""Rank 0 computes, and the others load what it may not have written."""

import os

import torch
import torch.distributed as dist


def weights(labels, path):
    if dist.get_rank() == 0:
        if os.path.exists(path):
            found = torch.load(path)
        else:
            found = torch.bincount(labels).float()
            torch.save(found, path)
    else:
        found = torch.load(path)  # expect: DST408
    return found


def main(labels):
    dist.init_process_group("gloo")
    weights(labels, "weights.pt")
