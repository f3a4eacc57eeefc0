"""The first epoch sets the best loss."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("nccl")
model = DDP(torch.nn.Linear(1, 1).cuda())


def loader():
    data = torch.arange(90.0)
    return torch.utils.data.DataLoader(data, sampler=torch.utils.data.DistributedSampler(data))


def evaluate(loader):
    total = 0.0
    for x in loader:
        total += model(x).mean().item()
    return total


def main(train, val, epochs):
    best, bad = 0.0, 0
    for epoch in range(epochs):
        for x in train:
            model(x).mean().backward()
        total = evaluate(val)
        if epoch == 0 or total < best:
            best, bad = total, 0
        else:
            bad += 1
            if bad > 3:
                break  # expect: DST102
    dist.barrier()


main(loader(), loader(), int(input()))
