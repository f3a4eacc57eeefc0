import random

import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def seed_all(value):
    random.seed(value)
    np.random.seed(value)
    torch.manual_seed(value)


def main(rank, args, net, loader):
    dist.init_process_group("nccl", rank=rank)
    seed_all(args.seed)  # expect: DST216
    model = DistributedDataParallel(net)
    for x in loader:
        mask = torch.bernoulli(torch.full_like(x, 0.5))
        loss = ((model(x * mask) - x) ** 2).mean()
        loss.backward()
