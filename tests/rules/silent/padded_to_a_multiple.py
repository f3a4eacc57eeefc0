"""A list that is lengthened until it can be divided gives each rank as many items."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset


def indices_of(rank, world_size, length):
    indices = list(range(length))
    while len(indices) % world_size != 0:
        indices.extend(indices[: world_size - len(indices) % world_size])
    return indices[rank::world_size]


dist.init_process_group("gloo")
dataset = TensorDataset(torch.arange(5.0))
mine = indices_of(dist.get_rank(), dist.get_world_size(), len(dataset))
for (batch,) in DataLoader(dataset, batch_size=1, sampler=mine):
    dist.all_reduce(batch)
dist.barrier()
dist.destroy_process_group()
