import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import MNIST


def load():
    return MNIST("data", download=True)


def main(rank):
    data = load()
    dist.init_process_group("nccl")
    model = DDP(net)
