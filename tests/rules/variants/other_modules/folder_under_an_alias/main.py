import os

import torch
import torch.distributed as dist

from lib import u as tools


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    tools.ensure_dir("saved")
