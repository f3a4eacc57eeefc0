import os

import torch
import torch.distributed as dist


def place():
    return torch.device("cuda", int(os.environ["LOCAL_RANK"]))


def join():
    dist.init_process_group("nccl")
    device = place()
    return device
