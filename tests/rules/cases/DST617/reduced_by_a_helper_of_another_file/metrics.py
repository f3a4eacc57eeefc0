import torch
import torch.distributed as dist


def combine(value, weight):
    both = torch.tensor([value * weight, weight], device="cuda")
    _sum(both)
    return (both[0] / both[1]).item()


def _sum(tensor):
    dist.all_reduce(tensor)
