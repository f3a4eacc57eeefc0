import os

import torch
import torch.distributed as dist

import lib.u


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    lib.u.ensure_dir("saved")
