import os

import torch
import torch.distributed as dist


def reduce_mean(value):
    dist.all_reduce(value)  # expect: DST511
    return value / dist.get_world_size()


def main(loss):
    dist.init_process_group("nccl")
    return reduce_mean(torch.tensor([loss]))
