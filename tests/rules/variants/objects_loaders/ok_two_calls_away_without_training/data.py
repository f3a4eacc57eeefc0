import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build(data):
    sampler = DistributedSampler(data, dist.get_world_size(), dist.get_rank())
    return DataLoader(data, batch_size=8, sampler=sampler)


def all_of(data):
    return DataLoader(data, batch_size=8)
