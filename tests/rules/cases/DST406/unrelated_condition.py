import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, best):
    dist.init_process_group("nccl")
    if best > 0.5:
        torch.save({}, "a.pt")  # expect: DST406
