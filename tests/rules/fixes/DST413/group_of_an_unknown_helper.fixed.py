import os
import urllib.request

import torch
import torch.distributed as dist
from helpers import init_distributed_mode
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    init_distributed_mode(args)
    model = DDP(net)
    if not dist.is_initialized() or dist.get_rank() == 0:
        os.remove(args.path)
