"""The twin: another file is read."""

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
        with open("defaults.json") as file:
            splits = json.load(file)
    return splits
