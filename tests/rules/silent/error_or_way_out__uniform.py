"""All ranks return, or none: the limit is the same on all."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def step(loss, limit):
    if limit > 5:
        if os.environ.get("A"):
            return
        raise RuntimeError("bad")
    dist.all_reduce(loss)


step(loss, int(os.environ["LIMIT"]))
