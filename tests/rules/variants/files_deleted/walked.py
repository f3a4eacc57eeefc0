"""What os.walk and os.scandir show."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(folder):
    dist.init_process_group("nccl")
    for root, _, names in os.walk(folder):
        for name in names:
            os.unlink(os.path.join(root, name))  # expect: DST413
    with os.scandir(folder) as entries:
        for entry in entries:
            os.remove(entry.path)  # expect: DST413
