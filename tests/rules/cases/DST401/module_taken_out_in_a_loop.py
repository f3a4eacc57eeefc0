import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, rank):
    model = DDP(net)
    while hasattr(model, "module"):
        model = model.module
    torch.save(model.state_dict(), "a.pt")
