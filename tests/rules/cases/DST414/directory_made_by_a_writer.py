# SummaryWriter has created the parent directory.
import os

import torch
import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter

dist.init_process_group("nccl")
writer = SummaryWriter(os.path.join(args.out, "a"))
if not os.path.exists(args.out):
    os.makedirs(args.out)
