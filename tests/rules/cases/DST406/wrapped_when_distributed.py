import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, model):
    if args.distributed:
        model = DDP(model)
    torch.save({}, "a.pt")  # expect: DST406
