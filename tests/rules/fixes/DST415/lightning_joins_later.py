import os
import urllib.request

import lightning as L
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.datasets import MNIST

data = MNIST("data", download=True)
L.Trainer(devices=4).fit(model, data)
