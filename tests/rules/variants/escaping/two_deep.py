"""A function in a function in a function."""

import torch
import torch.distributed as dist


def outer(engine):
    def middle():
        def inner(x):
            if dist.get_rank() == 0:  # expect: DST101
                dist.all_reduce(x)

        engine.attach(inner)

    engine.attach(middle)
