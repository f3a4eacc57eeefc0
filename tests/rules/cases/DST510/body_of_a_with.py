import contextlib

import torch.distributed as dist


@contextlib.contextmanager
def session():
    dist.init_process_group("gloo")
    try:
        yield dist.get_rank()
    finally:
        dist.barrier()  # expect: DST510
