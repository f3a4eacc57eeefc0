"""It is bound with functools."""

import torch
import torch.distributed as dist


from functools import partial


def attach(engine, path):
    def save(path, x):
        if dist.get_rank() == 0:  # expect: DST101
            dist.all_reduce(x)

    engine.attach(partial(save, path))
