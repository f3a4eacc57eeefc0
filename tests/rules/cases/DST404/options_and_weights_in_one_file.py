import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(Net, path):
    dist.init_process_group("nccl")
    saved = torch.load(path)  # expect: DST404
    model = Net(saved["width"]).cuda()
    model.load_state_dict(saved["model"])
