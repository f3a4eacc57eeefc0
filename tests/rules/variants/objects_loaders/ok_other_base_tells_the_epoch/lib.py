import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


class Base:
    def __init__(self, data, net):
        setup()
        self.model = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
        self.x = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
