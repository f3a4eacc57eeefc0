import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

if "RANK" not in os.environ:
    dist.init_process_group("gloo", rank=0, world_size=1)
dist.barrier()
torch.save({}, "a.pt")  # expect: DST406
