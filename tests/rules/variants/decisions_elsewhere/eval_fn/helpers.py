import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def evaluate(model, loader):
    model.eval()
    total = 0
    with torch.no_grad():
        for x, y in loader:
            total += (model(x.cuda()) - y.cuda()).abs().mean().item()
    return total / len(loader)
