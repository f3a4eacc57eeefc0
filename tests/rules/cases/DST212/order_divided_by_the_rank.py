import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def prepare():
    order = np.random.permutation(1000)  # expect: DST212
    rank, world = dist.get_rank(), dist.get_world_size()
    return Subset(range(1000), order[rank::world])


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
