import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(folder, device, progress):
    dist.init_process_group("nccl")
    step = int(progress(device))
    torch.save({}, f"{folder}/{step}.pt")  # expect: DST406
