# Other files have to call it on all ranks.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def keep(state, path, old):
    torch.save(state, path)  # expect: DST406
    dist.barrier()
