import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def save(state):
    torch.save(state, "a.pt")


model = DDP(net)
save(model.module.state_dict())
