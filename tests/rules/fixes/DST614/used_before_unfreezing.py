import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
output = model(x)
model.module.head.requires_grad_(True)
output.sum().backward()
