from torch.utils.data import DataLoader, DistributedSampler


def make_loaders(args, train_set, val_set):
    if not args.distributed:
        return DataLoader(train_set, args.batch_size, shuffle=True), None
    train_sampler = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, args.batch_size, sampler=train_sampler)
    val_sampler = DistributedSampler(val_set, shuffle=False)
    return train_loader, DataLoader(val_set, args.batch_size, sampler=val_sampler)
