"""Objects that pathlib lists."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(folder, keep):
    dist.init_process_group("nccl")
    found = sorted(Path(folder).glob("epoch-*.pt"))
    for path in found[:-keep]:
        path.unlink()  # expect: DST413
    for path in Path(folder).iterdir():
        if path.suffix == ".part":
            os.remove(path)  # expect: DST413
