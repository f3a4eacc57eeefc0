"""Functions write and read."""

import os

import torch
import torch.distributed as dist


def write(model, path):
    torch.save(model.state_dict(), path)


def read(model, path):
    model.load_state_dict(torch.load(path, map_location="cpu"))  # expect: DST408


def start(model, path):
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        write(model, path)
    else:
        read(model, path)
