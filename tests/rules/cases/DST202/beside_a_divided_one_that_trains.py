"""Labelled data are divided, and each rank draws at random from all that have no label."""

from torch.utils.data import DataLoader, DistributedSampler


def make_loaders(args, labelled, unlabelled):
    sampler = DistributedSampler(labelled)
    labelled_loader = DataLoader(labelled, args.batch_size, sampler=sampler)
    unlabelled_loader = DataLoader(unlabelled, args.batch_size, shuffle=True)
    return labelled_loader, unlabelled_loader
