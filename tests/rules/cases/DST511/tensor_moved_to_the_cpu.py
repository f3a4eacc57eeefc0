import os

import torch
import torch.distributed as dist


def mean(loss):
    value = loss.detach().cpu()
    dist.all_reduce(value)  # expect: DST511
    return value / dist.get_world_size()


def main(model, x):
    dist.init_process_group("nccl")
    return mean(model(x).mean())
