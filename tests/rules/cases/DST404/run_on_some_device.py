import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, net, path, name):
    dist.init_process_group("gloo")
    device = torch.device(name)
    model = DDP(net.to(device))
    model.load_state_dict(torch.load(path))  # expect: DST404
