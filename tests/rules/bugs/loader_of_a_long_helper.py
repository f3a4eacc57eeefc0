"""A long helper makes the loader: its batches are each rank's own, and so is a test of them."""
# effect: hang

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


def make_loader(items, workers, shuffle, pin):
    options = {}
    options["num_workers"] = workers
    options["pin_memory"] = pin
    options["batch_size"] = 1
    options["drop_last"] = False
    options["timeout"] = 0
    options["prefetch_factor"] = None
    options["persistent_workers"] = False
    seed = len(items)
    if shuffle:
        seed += 1
    sampler = DistributedSampler(items, shuffle=shuffle, seed=seed)
    return DataLoader(items, sampler=sampler, **options)


dist.init_process_group("gloo")
total = torch.zeros(1)
for batch in make_loader(torch.arange(8.0), 0, False, False):
    if batch.sum().item() > 4:  # expect: DST103
        dist.all_reduce(total)
dist.destroy_process_group()
