# Other files may call it on rank 0 only.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def keep(state, path, old):
    torch.save(state, path)
    if dist.get_rank() == 0 and os.path.exists(old):
        os.remove(old)
