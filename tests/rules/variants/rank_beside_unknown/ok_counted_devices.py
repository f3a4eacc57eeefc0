"""Each process has a device."""

import torch
import torch.distributed as dist


import os


def start(x):
    local_rank = int(os.environ["LOCAL_RANK"])
    if local_rank >= torch.cuda.device_count():
        return
    dist.all_reduce(x)
