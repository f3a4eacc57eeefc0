from draws import make
from torch.utils.data import DataLoader


def make_loaders(train_set, val_set):
    train_loader = DataLoader(train_set, 8, shuffle=True)  # expect: DST202
    val_sampler = make(val_set)
    return train_loader, DataLoader(val_set, 8, sampler=val_sampler)
