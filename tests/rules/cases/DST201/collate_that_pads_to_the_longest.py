import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler

ROWS = 8


def padded(rows):
    longest = max(len(row) for row in rows)
    return torch.stack([torch.nn.functional.pad(row, (0, longest - len(row))) for row in rows])


def main(data, model, batch_size):
    dist.init_process_group("nccl")
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=ROWS, sampler=sampler, collate_fn=padded)  # expect: DST201
    step = torch.compile(model, dynamic=False)
    for ids in loader:
        step(ids).mean().backward()
