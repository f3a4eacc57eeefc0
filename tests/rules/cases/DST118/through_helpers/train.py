import torch.distributed as dist
from helpers import collect, mean_of, show, summed


def none_used(x):
    y = summed(x)
    return y + 1


def gathered(x):
    out = [x, x]
    collect(out, x)
    for part in out:
        print(part.item())  # expect: DST118


def in_a_dict(x, best):
    parts = {}
    parts["loss"] = x * 2
    dist.reduce(parts["loss"], dst=0)
    mean = mean_of(parts["loss"])  # expect: DST118
    if mean < best:
        best = mean
    return best


def shown(x):
    dist.reduce(x, 0)
    show(x)  # expect: DST118


def none_in_a_dict(x):
    parts = {}
    parts["work"] = dist.all_reduce(x)  # expect: DST118
    parts["work"].wait()
