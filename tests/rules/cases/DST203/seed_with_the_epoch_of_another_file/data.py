from torch.utils.data import DataLoader, DistributedSampler


def train_loader(data, seed):
    return DataLoader(data, 64, sampler=DistributedSampler(data, seed=seed))
