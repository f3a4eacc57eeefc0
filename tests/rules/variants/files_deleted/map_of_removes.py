"""A function is mapped over the list."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(folder):
    dist.init_process_group("nccl")
    [os.remove(path) for path in glob.glob(folder + "/*.tmp")]  # expect: DST413
