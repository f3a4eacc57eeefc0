from torch.utils.data import DataLoader, DistributedSampler


def loaders(data, many):
    sampler = DistributedSampler(data) if many else None
    loader = DataLoader(data, 4, shuffle=sampler is None)  # expect: DST202
    return loader, sampler
