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


def wrap(model, rank):
    return DDP(model, device_ids=[rank])  # expect: DST511


def main(rank):
    dist.init_process_group("nccl")
    return wrap(Net(), rank)
