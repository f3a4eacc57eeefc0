import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from models import Net, Plain, build, place


def main(args):
    dist.init_process_group("nccl")
    one = DDP(Net(), device_ids=[args.gpu])
    two = build(args)
    two = DDP(two, device_ids=[args.gpu])
    three = Plain()
    place(three, args.gpu)
    three = DDP(three, device_ids=[args.gpu])
    return one, two, three
