import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank):
    save = rank == 0
    if save:
        torch.save({}, "a.pt")
