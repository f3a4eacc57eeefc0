import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
for name in names:
    path = os.path.join("out", name)
    if os.path.exists(path):
        print(path)
    torch.save(work(name), path)  # expect: DST406
