import contextlib
import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
for index, batch in enumerate(loader):
    with model.no_sync() if index % 4 else contextlib.nullcontext():
        loss = model(batch).mean() / 4
        loss.backward()
    if index % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
