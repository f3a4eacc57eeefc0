"""How many samples a batch has, and whether a tensor is on a GPU, are the same on all ranks."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def gathered(value, size):
    found = [torch.ones_like(value) for _ in range(size)]
    if value.is_cuda:
        dist.all_gather(found, value)
    else:
        dist.all_gather_object(found, value)
    return torch.cat(found)


def main(part=2):
    dist.init_process_group("gloo")
    dataset = TensorDataset(torch.rand(16, 3))
    loader = DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset))
    for (batch,) in loader:
        assert batch.dim() == 2
        for start in range(0, batch.size(0), part):
            total = batch[start : start + part].sum()
            dist.all_reduce(total)
    gathered(torch.rand(1), dist.get_world_size())
    dist.destroy_process_group()


main()
