import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def export(model, path):
    torch.save(model.state_dict(), path)
