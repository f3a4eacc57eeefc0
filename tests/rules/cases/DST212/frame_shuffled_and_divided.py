import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


class Rows(Dataset):
    def __init__(self, frame):
        self.frame = frame

    def __getitem__(self, index):
        return self.frame.iloc[index]

    def __len__(self):
        return len(self.frame)


def prepare():
    frame = pd.read_csv("train.csv")
    frame = frame.sample(frac=1).reset_index(drop=True)  # expect: DST212
    return Rows(frame[:1000])


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
