from torch.utils.data import DataLoader, DistributedSampler


def build(data, seed):
    return DataLoader(data, 8, sampler=DistributedSampler(data, seed=seed))  # expect: DST211
