"""Whether a loop over a loader had a turn is no matter of the data: ranks have as many each."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def evaluate(loader):
    total = torch.zeros(())
    batch = None
    for batch in loader:
        part = batch[0].sum()
        dist.all_reduce(part)
        total += part
    if batch is None:
        return {}
    dist.barrier()
    return {"total": total}


def main():
    dist.init_process_group("gloo")
    dataset = TensorDataset(torch.rand(16, 3))
    evaluate(DataLoader(dataset, batch_size=4, sampler=DistributedSampler(dataset)))
    dist.barrier()
    dist.destroy_process_group()


main()
