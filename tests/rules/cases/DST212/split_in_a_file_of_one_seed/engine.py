from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from data import split


def setting(features, labels):
    x, x_val, y, y_val = split(features, labels)
    train = TensorDataset(x, y)
    return DataLoader(train, sampler=DistributedSampler(train))
