import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


class Base:
    def __init__(self, data, net):
        setup()
        self.x = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
