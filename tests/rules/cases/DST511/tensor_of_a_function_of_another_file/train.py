import os

import torch
import torch.distributed as dist
from tensors import counts


def main(hits, total):
    dist.init_process_group("nccl")
    both = counts(hits, total)
    dist.all_reduce(both)  # expect: DST511
    return (both[0] / both[1]).item()
