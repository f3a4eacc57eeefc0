import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

if len(os.listdir(".")) > 4:
    from options import args
else:
    from others import args
dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
torch.save({}, "a.pt")
