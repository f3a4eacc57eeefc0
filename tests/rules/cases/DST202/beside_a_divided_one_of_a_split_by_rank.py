from torch.utils.data import DataLoader, DistributedSampler

from mine import shard_by_rank


def make_loaders(args, train_set, val_set):
    train_set = shard_by_rank(train_set)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True)
    val_sampler = DistributedSampler(val_set, shuffle=False)
    return train_loader, DataLoader(val_set, args.batch_size, sampler=val_sampler)
