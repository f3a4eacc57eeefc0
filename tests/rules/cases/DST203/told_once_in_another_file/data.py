from torch.utils.data import DataLoader, DistributedSampler


def train_loader(data):
    order = DistributedSampler(data)  # expect: DST203
    return DataLoader(data, 64, sampler=order), order
