import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    if args.quick:
        if args.rank != 0:
            return
    torch.save({}, "a.pt")  # expect: DST406
