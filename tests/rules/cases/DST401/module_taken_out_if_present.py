import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, rank):
    model = DDP(net)
    bare = model.module if hasattr(model, "module") else model
    torch.save(bare.state_dict(), "a.pt")
