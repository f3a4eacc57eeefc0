import os
import urllib.request

import torch
import torch.distributed as dist
from helpers import init_distributed_mode
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args):
    init_distributed_mode(args)
    model = DDP(net)
    os.remove(args.path)
