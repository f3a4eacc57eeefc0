"""A pair of a context manager that a class hands out."""

import torch
import torch.distributed as dist


from contextlib import contextmanager


def make():
    @contextmanager
    def first():
        if dist.get_rank() != 0:
            dist.barrier()
        yield
        if dist.get_rank() == 0:
            dist.barrier()

    return first
