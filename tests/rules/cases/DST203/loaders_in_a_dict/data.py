from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def make_loaders(train_data, val_data):
    train_sampler = DistributedSampler(train_data, shuffle=True)  # expect: DST203
    val_sampler = DistributedSampler(val_data, shuffle=False)
    return {
        "train": DataLoader(train_data, batch_size=16, sampler=train_sampler),
        "val": DataLoader(val_data, batch_size=16, sampler=val_sampler),
    }
