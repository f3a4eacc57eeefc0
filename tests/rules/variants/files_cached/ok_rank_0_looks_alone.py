"""Only rank 0 looks for the file, loads or writes it."""

import os

import torch
import torch.distributed as dist


def show(data, path):
    if dist.get_rank() == 0:
        if os.path.exists(path):
            print(torch.load(path))
        else:
            torch.save(data.mean(0), path)


def main(data):
    dist.init_process_group("gloo")
    show(data, "mean.pt")
