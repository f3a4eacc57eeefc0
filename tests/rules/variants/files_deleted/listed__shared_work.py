"""The twin: the files are divided among the ranks."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(folder):
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    for path in sorted(glob.glob(os.path.join(folder, "*.tmp")))[rank::world]:
        os.remove(path)
    for index, name in enumerate(sorted(os.listdir(folder))):
        if index % world == rank:
            os.remove(os.path.join(folder, name))
