import torch
import torch.distributed as dist
from setup import init


def main(value):
    init()
    total = torch.tensor([value])
    dist.all_reduce(total)  # expect: DST511
