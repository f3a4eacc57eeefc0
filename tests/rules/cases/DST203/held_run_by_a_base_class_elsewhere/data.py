from torch.utils.data import DataLoader, DistributedSampler


def make_loader(data, distributed):
    if distributed:
        sampler = DistributedSampler(data)  # expect: DST203
        loader = DataLoader(data, batch_size=8, sampler=sampler)
    else:
        loader = DataLoader(data, batch_size=8, shuffle=True)
    return loader
