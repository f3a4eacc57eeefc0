"""A try before the raise may return."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def step(loss):
    if loss.item() > 0.5:
        try:
            torch.save(loss, "bad.pt")
            if os.environ.get("A"):
                return  # expect: DST117
        finally:
            print("saved")
        raise RuntimeError("bad")
    dist.all_reduce(loss)


step(loss)
