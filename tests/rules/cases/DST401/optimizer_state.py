import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, optimizer):
    model = DDP(net)
    torch.save({"optimizer": optimizer.state_dict()}, "a.pt")
