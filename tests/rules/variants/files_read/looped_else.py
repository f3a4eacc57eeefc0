"""The others look for the file until it is there."""

import os

import torch
import torch.distributed as dist


def load(build):
    import time

    dist.init_process_group("nccl")
    path = "cache.pt"
    if dist.get_rank() == 0:
        torch.save(build(), path + ".tmp")
        os.replace(path + ".tmp", path)
    else:
        while not os.path.exists(path):
            time.sleep(1)
        data = torch.load(path)
        return data
    return torch.load(path)
