import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from saver import Saver


def main(net):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    model = DDP(net.cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
    saver = Saver(model, "last.pt")
    if dist.get_rank() == 0:
        saver.save()
