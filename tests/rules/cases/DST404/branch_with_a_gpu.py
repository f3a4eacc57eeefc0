import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net):
    dist.init_process_group("nccl")
    if torch.cuda.is_available():
        state = torch.load(args.path)  # expect: DST404
    else:
        state = torch.load(args.path, map_location="cpu")
    net.load_state_dict(state)
