from torch.utils.data import DataLoader, DistributedSampler


def loaders(rows):
    return [DataLoader(rows, sampler=DistributedSampler(rows))]
