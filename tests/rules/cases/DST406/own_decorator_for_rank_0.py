import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def only_rank_zero(function):
    def wrapped(*args):
        if dist.get_rank() == 0:
            return function(*args)

    return wrapped


@only_rank_zero
def save():
    torch.save({}, "a.pt")


def main():
    dist.init_process_group("nccl")
    save()
