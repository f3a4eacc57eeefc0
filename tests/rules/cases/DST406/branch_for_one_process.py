import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, rank):
    if not args.distributed:
        torch.save({}, "a.pt")
