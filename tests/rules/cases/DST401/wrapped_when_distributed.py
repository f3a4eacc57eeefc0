import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, distributed):
    model = net
    if distributed:
        model = DDP(net)
    state = {"model": model.state_dict()}  # expect: DST401
    torch.save(state, "a.pt")
