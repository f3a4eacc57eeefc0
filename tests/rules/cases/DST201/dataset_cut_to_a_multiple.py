import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, Subset


def main(data, model, batch_size):
    dist.init_process_group("nccl")
    whole = batch_size * dist.get_world_size()
    count = len(data) // whole * whole
    data = Subset(data, range(count))
    loader = DataLoader(data, batch_size=batch_size, sampler=DistributedSampler(data))
    step = torch.compile(model, mode="reduce-overhead")
    for ids in loader:
        step(ids).mean().backward()
