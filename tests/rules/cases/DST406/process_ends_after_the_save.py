import os
import shutil
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, loss):
    dist.init_process_group("nccl")
    if not math.isfinite(loss):
        torch.save({"loss": loss}, "bad.pt")
        sys.exit(1)
    if loss < 0:
        torch.save({"loss": loss}, "good.pt")  # expect: DST406
