import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def shuffled(items):
    items = list(items)
    random.shuffle(items)  # expect: DST212
    return items


class Files(Dataset):
    def __init__(self, files):
        self.files = files

    def __getitem__(self, index):
        return torch.load(self.files[index])


def prepare():
    return Files(shuffled(open("files.txt")))


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
