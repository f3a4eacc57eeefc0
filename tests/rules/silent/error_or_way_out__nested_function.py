"""The return before the raise is of a nested function."""
# static: whether the ranks part is up to a random number

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def step(loss):
    if loss.item() > 0.5:

        def words():
            return "bad"

        raise RuntimeError(words())
    dist.all_reduce(loss)


step(loss)
