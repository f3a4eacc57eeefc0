import os
import urllib.request

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import MNIST

data = MNIST("data", download=True)
accelerator = Accelerator()
model = accelerator.prepare(net)
