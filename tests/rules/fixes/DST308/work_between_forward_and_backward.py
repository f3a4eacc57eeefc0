import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
loss = model(x)
print(loss)
with model.no_sync():
    loss.backward()
