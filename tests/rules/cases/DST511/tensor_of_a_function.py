import os

import torch
import torch.distributed as dist


def as_tensor(value):
    return torch.tensor([value], dtype=torch.float64)


def main(value):
    dist.init_process_group("nccl")
    total = as_tensor(value)
    dist.all_reduce(total)  # expect: DST511
