from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def make(data):
    sampler = DistributedSampler(data)  # expect: DST203
    return DataLoader(data, batch_size=4, sampler=sampler)
