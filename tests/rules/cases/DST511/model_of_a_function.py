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


def build(width):
    model = Net()
    print(width)
    return model


def main(rank):
    dist.init_process_group("nccl")
    model = build(4)
    model = DDP(model, device_ids=[rank], output_device=rank)  # expect: DST511
