import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(path, net, **kwargs):
    dist.init_process_group("nccl")
    net.cuda().load_state_dict(torch.load(path, **kwargs))
