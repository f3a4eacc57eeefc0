import os
import shutil
from argparse import Namespace

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

args = Namespace(rank=0, world_size=1)
dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
torch.save({}, "a.pt")
