import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, folder):
    if rank == 0:
        os.makedirs(folder, exist_ok=True)
    for step in range(4):
        os.makedirs("elsewhere", exist_ok=True)
        torch.save({}, os.path.join(folder, "a", str(rank)))  # expect: DST408
