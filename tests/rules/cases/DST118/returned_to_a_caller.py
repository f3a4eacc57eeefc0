import torch
import torch.distributed as dist


def total(x):
    return dist.all_reduce(x)  # expect: DST118


loss = total(torch.ones(1))
