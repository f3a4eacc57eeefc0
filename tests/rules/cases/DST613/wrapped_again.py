import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
with autocast():
    output = model.module(x)
model = DDP(other)
with autocast():
    output = model(x)
loss = output.mean()
loss.backward()
