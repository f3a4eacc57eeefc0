import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
model = DDP(net)
torch.save(model, "m.pt")
old = torch.load("m.pt", map_location="cpu")
