import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def join():
    os.environ["WORLD_SIZE"] = "2"
    dist.init_process_group("nccl")


def main(net):
    join()
    torch.save(DDP(net).module, "a.pt")  # expect: DST406
