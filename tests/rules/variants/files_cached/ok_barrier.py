"""All ranks wait until rank 0 has looked and written."""

import os

import torch
import torch.distributed as dist


def features(data, path):
    if dist.get_rank() == 0 and not os.path.exists(path):
        torch.save(data.mean(0), path)
    dist.barrier()
    return torch.load(path)


def main(data):
    dist.init_process_group("gloo")
    features(data, "features.pt")
