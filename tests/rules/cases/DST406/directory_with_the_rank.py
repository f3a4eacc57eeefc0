import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, gpu):
    dist.init_process_group("nccl")
    args.out = os.path.join(args.out, f"rank{dist.get_rank()}")
    torch.save({}, os.path.join(args.out, "a.pt"))
