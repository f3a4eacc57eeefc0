import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from models import build


def main(rank):
    dist.init_process_group("nccl")
    model = build()
    model = DDP(model, device_ids=[rank])  # expect: DST511
