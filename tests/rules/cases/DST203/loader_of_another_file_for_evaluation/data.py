from torch.utils.data import DataLoader, DistributedSampler


def build_loader(data, size):
    sampler = DistributedSampler(data)
    return DataLoader(data, batch_size=size, sampler=sampler, drop_last=True)
