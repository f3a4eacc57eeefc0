import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def evaluate(model, loader):
    total = torch.zeros(1).cuda()
    for x, y in loader:
        total += (model.module(x.cuda()) - y.cuda()).abs().mean()
    dist.all_reduce(total)
    return total.item()
