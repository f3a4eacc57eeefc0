import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

net = make()
model = DDP(net)
for weight in model.parameters():
    weight.requires_grad = False
for weight in model.module.head.parameters():
    weight.requires_grad = True
