"""The order of a set of texts is the process's own."""

import torch.distributed as dist


def reduce(out, a, b):
    for key in set(a) & set(b):
        dist.all_reduce(out[key])  # expect: DST105
