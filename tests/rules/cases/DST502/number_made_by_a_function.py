import os

import torch
import torch.distributed as dist


def place():
    return int(os.environ["LOCAL_RANK"])


def warm(number):
    torch.ones(1).cuda(number)


def join():
    number = place()
    dist.init_process_group("nccl")  # expect: DST502
    warm(number)
    return dist.get_rank()
