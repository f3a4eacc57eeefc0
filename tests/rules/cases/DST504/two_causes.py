import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")


def one():
    rank = dist.get_rank()
    torch.cuda.set_device(rank)  # expect: DST504
    return torch.ones(1).to(rank)


def other():
    gpu = dist.get_rank()  # expect: DST504
    return torch.ones(1).to(gpu)
