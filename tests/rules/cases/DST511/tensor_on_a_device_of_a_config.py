import os

import torch
import torch.distributed as dist


class Config:
    device = "cpu"
    backend = "nccl"


def main(value):
    config = Config()
    dist.init_process_group(config.backend)
    total = torch.zeros(2, device=config.device)
    total[0] = value
    dist.all_reduce(total)  # expect: DST511
