import os

import torch
import torch.distributed as dist

OPTIONS = {"device": "cpu", "lr": 0.1}


def main(value):
    dist.init_process_group("nccl")
    total = torch.full((1,), value, device=OPTIONS["device"])
    dist.all_reduce(total)  # expect: DST511
