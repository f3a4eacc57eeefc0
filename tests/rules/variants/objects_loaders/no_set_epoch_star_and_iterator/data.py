import torch.distributed as dist
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build(train_set, test_set):
    world, rank = dist.get_world_size(), dist.get_rank()
    train_sampler = DistributedSampler(train_set, world, rank)  # expect: DST203
    test_sampler = DistributedSampler(test_set, world, rank)
    train_loader = DataLoader(train_set, batch_size=8, sampler=train_sampler)
    test_loader = DataLoader(test_set, batch_size=8, sampler=test_sampler)
    return train_loader, test_loader
