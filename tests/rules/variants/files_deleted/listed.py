"""All ranks delete what they have listed."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def clean(folder):
    for name in os.listdir(folder):
        if name.endswith(".tmp"):
            os.remove(os.path.join(folder, name))  # expect: DST413


def main(folder):
    dist.init_process_group("nccl")
    clean(folder)
