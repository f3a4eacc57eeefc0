import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    dist.init_process_group("nccl")
    torch.cuda.set_device(args.local_rank)
    if torch.cuda.current_device() == 0:
        torch.save({}, "a.pt")
