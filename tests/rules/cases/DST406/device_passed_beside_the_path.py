import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def keep(net, path):
    torch.save(net.state_dict(), path)  # expect: DST406


def main(device, net):
    dist.init_process_group("nccl")
    net = net.to(device)
    keep(net, "a.pt")
