import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


class Source:
    def __init__(self, files):
        self.files = files

    def mix(self):
        random.shuffle(self.files)  # expect: DST212

    def data(self):
        return Subset(self.files, range(100))


def prepare():
    source = Source(list(range(1000)))
    source.mix()
    return source.data()


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
