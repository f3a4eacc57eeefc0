import time

import torch
import torch.distributed as dist


def job_seed(device):
    seed = torch.tensor([time.time_ns() % 2**31], device=device)
    dist.broadcast(seed, src=0)
    return int(seed.item())


def own_seed(device):
    seed = torch.tensor([time.time_ns() % 2**31], device=device)
    return int(seed.item())
