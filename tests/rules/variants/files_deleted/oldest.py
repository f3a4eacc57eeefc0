"""The oldest of the checkpoints, from a comprehension."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def rotate(folder, keep):
    names = [name for name in os.listdir(folder) if name.startswith("checkpoint")]
    names.sort(key=lambda name: int(name.split("-")[1]))
    if len(names) > keep:
        oldest = os.path.join(folder, names[0])
        shutil.rmtree(oldest)  # expect: DST413


def main(model, loader, folder):
    dist.init_process_group("nccl")
    for step, batch in enumerate(loader):
        model(batch).sum().backward()
        if step % 100 == 0:
            rotate(folder, 3)
