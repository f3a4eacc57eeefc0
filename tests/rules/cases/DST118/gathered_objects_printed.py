import torch
import torch.distributed as dist


def f(x):
    out = [x, x]
    dist.gather_object(x, out)
    for part in out:
        print(part.item())  # expect: DST118
