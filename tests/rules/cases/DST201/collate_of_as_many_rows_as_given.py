import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

ROWS = 8


def padded(rows):
    count = len(rows)
    ids = torch.zeros((count, 128), dtype=torch.long)
    mask = torch.zeros(128)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    return ids * mask


def main(data, model, batch_size):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=ROWS, sampler=sampler, collate_fn=padded)  # expect: DST201
    step = torch.compile(model, dynamic=False)
    for ids in loader:
        step(ids).mean().backward()
