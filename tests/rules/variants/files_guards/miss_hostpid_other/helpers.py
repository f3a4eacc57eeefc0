import os
import torch
import torch.distributed as dist


import uuid


def unique(n):
    return f"{n}-{uuid.uuid4()}.pt"
