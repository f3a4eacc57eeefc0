from torch.utils.data import DataLoader, DistributedSampler


def make_loaders(args, train_set, val_set):
    train_sampler = None
    val_sampler = DistributedSampler(val_set, shuffle=False)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True)  # expect: DST202
    val_loader = DataLoader(val_set, args.batch_size, sampler=val_sampler)
    return train_loader, val_loader, train_sampler
