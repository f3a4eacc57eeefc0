import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def prepare():
    indices = list(range(1000))
    np.random.shuffle(indices)  # expect: DST212
    train, val = indices[:900], indices[900:]
    return Subset(range(1000), train)


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
