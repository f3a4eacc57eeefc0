import os

import torch
import torch.distributed as dist

from tools import u


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    u.ensure_dir("saved")
