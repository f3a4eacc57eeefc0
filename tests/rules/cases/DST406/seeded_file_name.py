import os
import random
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, folder):
    random.seed(0)
    torch.save({}, f"{folder}/{random.randint(0, 9)}.pt")  # expect: DST406
