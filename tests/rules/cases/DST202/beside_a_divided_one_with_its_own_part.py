from torch.utils.data import DataLoader, DistributedSampler, Subset


def make_loaders(args, train_set, val_set, rank, world_size):
    part = Subset(train_set, range(rank, len(train_set), world_size))
    train_loader = DataLoader(part, args.batch_size, shuffle=True)
    val_sampler = DistributedSampler(val_set, shuffle=False)
    val_loader = DataLoader(val_set, args.batch_size, sampler=val_sampler)
    return train_loader, val_loader
