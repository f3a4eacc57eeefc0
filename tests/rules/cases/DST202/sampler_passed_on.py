from torch.utils.data import DataLoader, DistributedSampler


def make(data, other):
    sampler = DistributedSampler(data)
    loader = DataLoader(data)
    mine(sampler)
