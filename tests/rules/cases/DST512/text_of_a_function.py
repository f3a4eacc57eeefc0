import os

import torch.distributed as dist


def get_rank():
    return os.environ["RANK"]


def save(path):
    if get_rank() == 0:  # expect: DST512
        open(path, "w").close()
