import os
import shutil

import torch
import torch.distributed as dist
from accelerate import Accelerator
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, model):
    accelerator = Accelerator()
    if args.alone:
        model = torch.nn.DataParallel(model)
    torch.save(model.state_dict(), "a.pt")  # expect: DST406
