import os

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def make(data, net):
    return DataLoader(data, batch_size=8, shuffle=True)  # expect: DST202
