import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path, net):
    model = DDP(net.cuda())
    model.load_state_dict(torch.load(path))  # expect: DST404
