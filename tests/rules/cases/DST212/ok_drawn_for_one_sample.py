import random

import numpy as np
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Images(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        image = self.items[index]
        order = np.random.permutation(3)
        boxes = [1, 2, 3]
        random.shuffle(boxes)
        return image[order], boxes


class Pairs(Dataset):
    def __init__(self, items):
        self.items = items
        self.by_label = {}

    def __getitem__(self, index):
        others = list(range(len(self.items)))
        random.shuffle(others)
        return self.items[index], self.items[others[0]]

    def __len__(self):
        return len(self.items)


def main(args):
    dist.init_process_group("nccl")
    pairs = Pairs(args.items)
    loader = DataLoader(pairs, sampler=DistributedSampler(pairs))
