import os

import torch
import torch.distributed as dist

from data import get_data


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    get_data("root", download=False)
