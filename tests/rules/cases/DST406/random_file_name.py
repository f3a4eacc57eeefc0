import os
import random
import shutil
import string

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, folder):
    dist.init_process_group("nccl")
    name = "".join(random.choices(string.ascii_lowercase, k=8))
    torch.save({}, folder + "/" + name + ".pt")
