import math
import os
import time
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Stopper:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.bad = 0

    def should_stop(self, value):
        if value < self.best:
            self.best = value
            self.bad = 0
            return False
        self.bad += 1
        return self.bad > self.patience


stopper = Stopper(3)
