import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, rank):
    dist.init_process_group("nccl", rank=rank)
    folder = os.path.join("logs", args.name)
    if not os.path.exists(folder):
        os.makedirs(folder)  # expect: DST414
    if not os.path.exists(args.out):
        os.makedirs(args.out)  # expect: DST414
