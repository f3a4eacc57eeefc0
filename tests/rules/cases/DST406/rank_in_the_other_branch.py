import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, state):
    dist.init_process_group("nccl")
    if len(state) > 9:
        name = f"part_{rank}.pt"
        torch.save(state, name)
    else:
        name = "all.pt"
        torch.save(state, name)  # expect: DST406
