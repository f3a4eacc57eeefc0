import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
with open("a.pt", "wb") as file:
    torch.save(net, file)
    print("saved")
