from torch.utils.data import DataLoader, DistributedSampler


def make_loaders(accelerator, train_set, val_set):
    val_loader = DataLoader(val_set, 8, sampler=DistributedSampler(val_set, shuffle=False))
    train_loader = DataLoader(train_set, 8, shuffle=True)
    train_loader = accelerator.prepare(train_loader)
    return train_loader, val_loader
