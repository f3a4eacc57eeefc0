import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def prepare():
    files = list(range(1000))
    if dist.get_rank() == 0:
        random.shuffle(files)
    dist.broadcast_object_list(files, src=0)
    return Subset(files, range(100))


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
