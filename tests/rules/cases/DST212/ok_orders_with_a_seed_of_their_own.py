import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def prepare():
    frame = pd.read_csv("train.csv").sample(frac=1, random_state=0)
    files = list(frame.index)
    random.Random(0).shuffle(files)
    order = np.random.default_rng(0).permutation(len(files))
    other = np.random.RandomState(1).permutation(len(files))
    third = torch.randperm(len(files), generator=torch.Generator().manual_seed(0))
    return Subset(files, [*order, *other, *third])


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
