import torch
from torch.utils.data import DataLoader


def init_data(data, batch_size, world, rank):
    sampler = torch.utils.data.distributed.DistributedSampler(  # expect: DST203
        data, num_replicas=world, rank=rank
    )
    loader = DataLoader(data, sampler=sampler, batch_size=batch_size, num_workers=8)
    return loader, sampler
