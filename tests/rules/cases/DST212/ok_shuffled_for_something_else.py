import random

import numpy as np
import pandas as pd
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset


def prepare():
    frame = pd.read_csv("train.csv")
    print(frame.sample(5))
    colours = ["red", "green"]
    random.shuffle(colours)
    print(colours[0])
    return Subset(frame, range(100))


def augment(image):
    order = torch.randperm(3)
    image = image[order]
    steps = [1, 2, 3]
    random.shuffle(steps)
    for step in steps:
        image = image * step
    return image


def mix(x, y):
    index = torch.randperm(x.size(0))
    return 0.5 * x + 0.5 * x[index], y[index]


def negatives(words, count):
    random.shuffle(words)
    return words[:count]


def main():
    dist.init_process_group("nccl")
    data = prepare()
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)


if __name__ == "__main__":
    main()
