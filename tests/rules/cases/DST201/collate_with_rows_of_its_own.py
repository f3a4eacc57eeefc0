import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

ROWS = 8


def padded(rows):
    ids = torch.zeros(8, 128, dtype=torch.long)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    return ids


def main(data, model, batch_size):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=ROWS, sampler=sampler, collate_fn=padded)
    step = torch.compile(model, dynamic=False)
    for ids in loader:
        step(ids).mean().backward()
