# What is shuffled was collected from the batches, under the name that the data had before.
import random

from torch.utils.data import DataLoader, DistributedSampler


def train(data, model):
    loader = DataLoader(data, sampler=DistributedSampler(data))  # expect: DST203
    for epoch in range(9):
        batches = iter(loader)
        for step in range(len(loader)):
            if step % 8 == 0:
                data = model.collect(next(batches))
            for _ in range(2):
                model.step(data)
                random.shuffle(data)
