from fast import Prefetcher
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def make(data):
    sampler = DistributedSampler(data)  # expect: DST203
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    return Prefetcher(loader, "cuda")
