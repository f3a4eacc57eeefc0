import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from lib import T


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def main(data, net):
    setup()
    model = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
    x = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))  # expect: DST203
    T(x, model).run()
