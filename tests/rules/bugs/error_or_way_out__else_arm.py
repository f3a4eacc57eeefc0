"""The arm without the collective may return before it raises."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def step(loss):
    if loss.item() < 0.5:
        dist.all_reduce(loss)
    else:
        if os.environ.get("A"):
            return  # expect: DST117
        raise RuntimeError("bad")


step(loss)
