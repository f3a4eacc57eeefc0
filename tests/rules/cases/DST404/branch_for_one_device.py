import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net):
    dist.init_process_group("nccl")
    if args.gpu is None:
        state = torch.load(args.path)
    else:
        state = torch.load(args.path, map_location=f"cuda:{args.gpu}")
    net.load_state_dict(state)
