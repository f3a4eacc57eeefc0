import os
import urllib.request

import torch
import torch.distributed as dist
import wandb
from torch.nn.parallel import DistributedDataParallel as DDP

wandb.init(project="a")
dist.init_process_group("nccl")
model = DDP(net)
