# FSDP gathers the full state on the CPU.
import os
import shutil

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel as DDP


def resume(model, optimizer, path):
    dist.barrier()
    whole = torch.load(path)["optimizer"]
    own = FSDP.shard_full_optim_state_dict(whole, model, optim=optimizer)
    optimizer.load_state_dict(own)
