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


def to_gpu(module, rank):
    module.cuda(rank)


def prepare(module):
    return module.to("cuda")


def main(rank, fill):
    dist.init_process_group("nccl")
    one = Net()
    one.cuda(rank)
    one = DDP(one, device_ids=[rank])
    two = Net().to(rank)
    two = DDP(two, device_ids=[rank])
    three = Net()
    to_gpu(three, rank)
    three = DDP(three, device_ids=[rank])
    four = prepare(Net())
    four = DDP(four, device_ids=[rank])
    five, six = Net(), Net()
    for each in (five, six):
        each.to(rank)
    five, six = DDP(five, device_ids=[rank]), DDP(six, device_ids=[rank])
    seven = Net()
    fill(seven)
    seven = DDP(seven, device_ids=[rank])
    with torch.device("cuda"):
        eight = Net()
    eight = DDP(eight, device_ids=[rank])
    nine = Net()
    if torch.cuda.is_available():
        nine = nine.cuda()
    nine = DDP(nine)
