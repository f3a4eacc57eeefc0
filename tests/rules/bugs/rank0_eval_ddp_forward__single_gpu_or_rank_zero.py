"""The test reads "one process or rank 0"; with several it is a rank test."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train_and_validate(rank, world_size, model, train, valid):
    for batch in train:
        model(batch).mean().backward()
    if world_size == 1 or rank == 0:  # expect: DST115
        with torch.no_grad():
            for event in valid:
                model(event)
    if world_size > 1:
        dist.barrier()


dist.init_process_group("gloo")
model = DDP(torch.nn.BatchNorm1d(3))
for _ in range(2):
    train_and_validate(
        dist.get_rank(), dist.get_world_size(), model, torch.randn(2, 4, 3), torch.randn(2, 4, 3)
    )
