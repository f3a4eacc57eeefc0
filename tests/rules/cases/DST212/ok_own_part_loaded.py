import random

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


def main(args):
    dist.init_process_group("nccl")
    files = sorted(args.files)
    mine = files[dist.get_rank() :: dist.get_world_size()]
    random.shuffle(mine)
    loader = DataLoader(mine)
    for x in loader:
        print(x)
