"""The rank is known to the function around it."""

import torch
import torch.distributed as dist


def watch(model):
    me = dist.get_rank()
    first = me == 0

    def hook(grad):
        if first:  # expect: DST101
            dist.all_reduce(grad)
        return grad

    model.register_hook(hook)
