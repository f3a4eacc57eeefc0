import os

import torch
import torch.distributed as dist

from u import ensure_dir


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if dist.get_rank() != 0:
        return
    ensure_dir("saved")
