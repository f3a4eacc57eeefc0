import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def save(state):
    if not dist.is_initialized() or dist.get_rank() == 0:
        torch.save(state, "a.pt")


model = DDP(net)
save(model.module.state_dict())
