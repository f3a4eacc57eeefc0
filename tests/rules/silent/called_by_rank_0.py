"""A function that is given the rank, and that rank 0 alone calls."""

import os
import tempfile

import torch.distributed as dist


def save_settings(folder, name, rank):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(path)
    if rank == 0:
        print("saved")


def train(folder, use_adapters, rank):
    if not use_adapters and rank == 0:
        save_settings(folder, "settings", rank)


dist.init_process_group("gloo")
train(tempfile.mkdtemp(), False, dist.get_rank())
dist.destroy_process_group()
