"""Features of the training data, for a classifier of nearest neighbours, are an evaluation."""

from torch.utils.data import DataLoader, DistributedSampler


def make_loaders(args, memory_set, test_set):
    memory_loader = DataLoader(memory_set, args.batch_size, shuffle=False)
    test_sampler = DistributedSampler(test_set, shuffle=False)
    return memory_loader, DataLoader(test_set, args.batch_size, sampler=test_sampler)
