"""Settings as text."""

import os

import torch
import torch.distributed as dist

import json


def load(build):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        splits = build()
        with open("splits.json", "w") as file:
            json.dump(splits, file)
    else:
        with open("splits.json") as file:  # expect: DST408
            splits = json.load(file)
    return splits
