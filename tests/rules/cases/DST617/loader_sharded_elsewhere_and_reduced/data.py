from torch.utils.data import DataLoader, DistributedSampler


def val_loader_for(data):
    sampler = DistributedSampler(data, shuffle=False)
    return DataLoader(data, batch_size=8, sampler=sampler)
