import torch
import torch.distributed as dist


def f(x, rank):
    dist.reduce(x, 0)
    print(f"rank {rank} has {x.item()}")
