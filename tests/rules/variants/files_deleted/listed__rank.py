"""The twin: each rank deletes its own files."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(folder, keep):
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    for name in os.listdir(f"{folder}/{rank}"):
        os.remove(os.path.join(f"{folder}/{rank}", name))
    mine = sorted(glob.glob(os.path.join(folder, f"*-{rank}.pt")))
    for path in mine[:-keep]:
        os.remove(path)
