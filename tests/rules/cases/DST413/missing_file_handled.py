import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, folder):
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
