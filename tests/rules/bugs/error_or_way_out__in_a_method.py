"""A method returns None for an infinite loss unless it is strict."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


class Trainer:
    def __init__(self, strict):
        self.strict = strict

    def step(self, loss):
        if torch.isinf(loss).item():
            if not self.strict:
                return None  # expect: DST117
            raise FloatingPointError("inf")
        dist.all_reduce(loss)
        return loss


Trainer(bool(os.environ.get("STRICT"))).step(loss)
