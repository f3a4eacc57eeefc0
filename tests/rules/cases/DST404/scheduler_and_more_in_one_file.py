import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def resume(net, scheduler, path):
    model = DDP(net.cuda())
    state = torch.load(path)  # expect: DST404
    scheduler.load_state_dict(state["scheduler"])
    return state["epoch"]
