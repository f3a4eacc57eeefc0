from torch.utils.data import DataLoader


def make(data, sampler):
    return DataLoader(data, batch_size=4, sampler=sampler)
