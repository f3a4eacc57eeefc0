import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def build():
    return DDP(torch.nn.Linear(1, 1))
