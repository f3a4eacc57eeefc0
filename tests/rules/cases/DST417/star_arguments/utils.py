import os

import torch
import torch.distributed as dist


def save_on_master(*args, **kwargs):
    if dist.get_rank() == 0:
        torch.save(*args, **kwargs)


def restart(path, **kwargs):
    if not os.path.isfile(path):
        return
    checkpoint = torch.load(path, map_location="cpu")  # expect: DST417
    for key, value in kwargs.items():
        value.load_state_dict(checkpoint[key])
