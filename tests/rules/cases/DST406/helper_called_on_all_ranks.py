import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def keep(state, path, old):
    torch.save(state, path)  # expect: DST406
    if dist.get_rank() == 0 and os.path.exists(old):
        os.remove(old)


def main(state):
    dist.init_process_group("nccl")
    keep(state, "a.pt", "b.pt")
