import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from dataclasses import dataclass


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 2)

    def forward(self, x):
        return self.body(x)


@dataclass
class Config:
    device: str = "cpu"


def main(rank):
    config = Config()
    dist.init_process_group("nccl")
    model = Net()
    model.to(config.device)
    model = DDP(model)  # expect: DST511
