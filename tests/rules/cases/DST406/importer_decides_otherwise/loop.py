import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(args, net):
    dist.barrier()
    if args.saves and args.every:
        torch.save(net.state_dict(), "a.pt")  # expect: DST406
