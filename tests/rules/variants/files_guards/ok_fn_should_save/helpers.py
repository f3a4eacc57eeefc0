import os
import torch
import torch.distributed as dist


def should_save():
    return dist.get_rank() == 0
