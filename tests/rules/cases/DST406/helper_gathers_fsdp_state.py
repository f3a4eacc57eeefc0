# Other files have to call it on all ranks.
import os
import shutil

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP


def keep(net, optimizer, path):
    state = FSDP.optim_state_dict(net, optimizer)
    torch.save(state, path)  # expect: DST406
