import os
import torch
import torch.distributed as dist


from contextlib import contextmanager


@contextmanager
def serial():
    if int(os.environ["LOCAL_RANK"]) != 0:
        dist.barrier()
    yield
    if int(os.environ["LOCAL_RANK"]) == 0:
        dist.barrier()
