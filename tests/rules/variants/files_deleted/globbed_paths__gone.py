"""The twins: what is gone already is no error, and nothing is written there."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(folder, keep):
    dist.init_process_group("nccl")
    for path in sorted(Path(folder).glob("epoch-*.pt"))[:-keep]:
        path.unlink(missing_ok=True)
    for name in os.listdir(folder):
        try:
            os.remove(os.path.join(folder, name))
        except FileNotFoundError:
            pass
