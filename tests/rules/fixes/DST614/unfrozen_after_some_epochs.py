import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
for epoch in range(9):
    if epoch == 5:
        model.module.head.requires_grad_(True)
    model(x).backward()
