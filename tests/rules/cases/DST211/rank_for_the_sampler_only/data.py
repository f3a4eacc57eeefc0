from torch.utils.data import DataLoader, DistributedSampler


def build(data, seed, rank):
    return DataLoader(data, 8, sampler=DistributedSampler(data, rank=rank, seed=seed))
