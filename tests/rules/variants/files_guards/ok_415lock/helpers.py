import os
import torch
import torch.distributed as dist


from contextlib import contextmanager
from filelock import FileLock


@contextmanager
def locked(p):
    with FileLock(p):
        yield
