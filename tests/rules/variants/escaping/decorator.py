"""The wrapper of a decorator."""

import torch
import torch.distributed as dist


import functools


def main_only(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        if dist.get_rank() == 0:  # expect: DST101
            function(*args, **kwargs)
            dist.barrier()

    return wrapper
