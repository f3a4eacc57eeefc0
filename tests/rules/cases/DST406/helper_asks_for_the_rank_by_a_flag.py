# Other files may call it on rank 0 only.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def keep(state, path, old):
    torch.save(state, path)
    first = dist.get_rank() == 0
    if first and os.path.exists(old):
        os.remove(old)
