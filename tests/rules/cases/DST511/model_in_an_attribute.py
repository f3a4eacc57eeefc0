import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x):
        return self.body(x)


class Trainer:
    def __init__(self, rank):
        dist.init_process_group("nccl")
        self.rank = rank
        self.model = Net()
        self.wrap()

    def wrap(self):
        self.model = DDP(self.model, device_ids=[self.rank])  # expect: DST511

    def step(self, batch):
        return self.model(batch.to(self.rank)).sum()
