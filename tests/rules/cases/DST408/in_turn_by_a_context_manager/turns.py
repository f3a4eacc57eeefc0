from contextlib import contextmanager
from time import monotonic

import torch.distributed as dist


@contextmanager
def leader_first():
    rank = dist.get_rank()
    if rank != 0:
        dist.barrier()
    yield rank == 0
    if rank == 0:
        dist.barrier()


class LeaderFirst:
    def __enter__(self):
        if dist.get_rank() != 0:
            dist.barrier()
        return dist.get_rank() == 0

    def __exit__(self, *exception):
        if dist.get_rank() == 0:
            dist.barrier()


@contextmanager
def timed():
    start = monotonic()
    yield
    print(monotonic() - start)
