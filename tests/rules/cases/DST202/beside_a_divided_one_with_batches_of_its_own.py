from torch.utils.data import DataLoader, DistributedSampler

from batching import BucketBatchSampler


def make_loaders(args, train_set, val_set):
    batches = BucketBatchSampler(train_set, args.batch_size)
    train_loader = DataLoader(train_set, batch_sampler=batches)
    val_sampler = DistributedSampler(val_set, shuffle=False)
    return train_loader, DataLoader(val_set, args.batch_size, sampler=val_sampler)
