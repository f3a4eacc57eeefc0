import os
import torch
import torch.distributed as dist


def dump3(s, p, write=True):
    if write:
        torch.save(s, p)
