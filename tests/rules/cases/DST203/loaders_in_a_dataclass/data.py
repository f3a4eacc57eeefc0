from dataclasses import dataclass

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


@dataclass
class Loaders:
    train: DataLoader
    val: DataLoader


def make_loaders(train_data, val_data):
    order = DistributedSampler(train_data)  # expect: DST203
    train = DataLoader(train_data, batch_size=16, sampler=order)
    return Loaders(train=train, val=DataLoader(val_data, batch_size=16))
