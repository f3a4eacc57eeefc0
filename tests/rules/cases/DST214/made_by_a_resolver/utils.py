import datetime
import os
import time

import torch
import torch.distributed as dist


def folder_of_run(name):
    folder = f"{name}_{time.strftime('%Y-%m-%d_%H-%M-%S')}"
    os.makedirs(folder, exist_ok=True)
    return folder


def join(rank, world):
    dist.init_process_group("nccl", rank=rank, world_size=world)
