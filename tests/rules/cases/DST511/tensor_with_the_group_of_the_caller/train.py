import os

import torch
import torch.distributed as dist
from metrics import mean


def main(values):
    dist.init_process_group("nccl")
    return [mean(value, 1) for value in values]
