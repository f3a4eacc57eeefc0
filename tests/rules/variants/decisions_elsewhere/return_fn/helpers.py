import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def one(model, optimizer, x, y):
    loss = (model(x.cuda()) - y.cuda()).abs().mean()
    if torch.isnan(loss):
        return None
    loss.backward()
    optimizer.step()
    return loss
