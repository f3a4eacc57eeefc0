import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


class Rows(Dataset):
    def __init__(self, path):
        self.frame = pd.read_csv(path)
        self.frame = self.frame.sample(frac=1.0)  # expect: DST212

    def __getitem__(self, index):
        return self.frame.iloc[index]


def prepare():
    return Rows("train.csv")


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
