import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def evaluate(model, loader):
    losses = []
    for x, y in loader:
        losses.append((model(x.cuda()) - y.cuda()).abs().mean().item())
    return {"loss": sum(losses) / len(losses)}
