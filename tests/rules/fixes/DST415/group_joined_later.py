import os
import urllib.request

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import MNIST

data = MNIST("data", download=True)
dist.init_process_group("nccl")
model = DDP(net)
