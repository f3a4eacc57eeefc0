# Only rank 0 divides: the author knows where the sum is.
import torch
import torch.distributed as dist


def f(x):
    dist.reduce(x, dst=0)
    if dist.get_rank() == 0:
        x /= 8
    if x.item() > 1:
        print(x)
