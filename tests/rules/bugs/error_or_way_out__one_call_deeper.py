"""A guard answers False before it would raise, and its caller skips the reduction."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def guard(loss):
    if loss.item() > 0.5:
        if os.environ.get("A"):
            return False
        raise RuntimeError("bad")
    return True


def step(loss):
    if guard(loss):  # expect: DST103
        dist.all_reduce(loss)


step(loss)
