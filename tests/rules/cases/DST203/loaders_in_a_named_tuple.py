from typing import NamedTuple

from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


class Loaders(NamedTuple):
    train: DataLoader
    val: DataLoader


def loaders_for(data, other):
    order = DistributedSampler(data)  # expect: DST203
    return Loaders(DataLoader(data, batch_size=8, sampler=order), DataLoader(other))


def main(model, data, other, epochs):
    model = DDP(model)
    loaders = loaders_for(data, other)
    for epoch in range(epochs):
        for batch in loaders.train:
            model(batch).mean().backward()
