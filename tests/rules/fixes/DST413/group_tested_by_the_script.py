import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path):
    model = DDP(net)
    if dist.is_initialized() and dist.get_rank() == 0:
        print(model)
    os.remove(path)
