"""A loop before the raise may return."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def wait(loss):
    if loss.item() > 0.5:
        for number in range(3):
            if os.path.exists(f"go{number}"):
                return  # expect: DST117
        raise TimeoutError
    dist.all_reduce(loss)


wait(loss)
