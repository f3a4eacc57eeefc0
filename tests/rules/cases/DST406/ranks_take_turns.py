import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank):
    dist.init_process_group("nccl")
    if rank != 0:
        dist.barrier()
    torch.save({}, "a.pt")
    if rank == 0:
        dist.barrier()
