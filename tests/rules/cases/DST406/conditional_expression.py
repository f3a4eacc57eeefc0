import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank):
    torch.save({}, "a.pt") if rank == 0 else None
