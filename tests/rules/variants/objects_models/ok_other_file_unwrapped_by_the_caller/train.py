import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

import lib


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def main(data, net):
    setup()
    x = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
    lib.use(x.module)
