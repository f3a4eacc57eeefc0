"""The break before the raise leaves an inner loop only."""
# static: whether the ranks part is up to a random number

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def step(loss):
    if loss.item() > 0.5:
        for number in range(3):
            print(number)
            if number > 1:
                break
        raise RuntimeError("bad")
    dist.all_reduce(loss)


step(loss)
