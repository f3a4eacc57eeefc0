import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from base import Base


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x):
        return self.body(x)


class Trainer(Base):
    def __init__(self, rank):
        dist.init_process_group("nccl")
        self.rank = rank
        self.model = Net()
        self.place()
        self.model = DDP(self.model, device_ids=[self.rank])
