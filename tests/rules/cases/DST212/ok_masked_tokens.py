import random

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


def random_mask(length, keep):
    noise_order = torch.randperm(length)
    kept = noise_order[:keep]
    masked = noise_order[keep:]
    return kept, masked


class Masked(torch.nn.Module):
    def forward(self, x):
        kept, masked = random_mask(x.shape[1], 10)
        return x[:, kept], x[:, masked]


def main(args):
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(Masked().cuda())
    for x in args.loader:
        model(x)
