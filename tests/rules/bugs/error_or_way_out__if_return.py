"""A block that ends in a raise may return before."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def step(loss):
    if loss.item() > 0.5:
        if os.environ.get("A"):
            return  # expect: DST117
        raise RuntimeError("bad")
    dist.all_reduce(loss)


step(loss)
