# Other files have to call it on all ranks.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train_one_epoch(model, batches, path):
    for batch in batches:
        model(batch).sum().backward()
    torch.save(model.state_dict(), path)  # expect: DST406
    if dist.get_rank() == 0:
        print("saved")
