"""What fails, if anything, is done before the collective, or fails on all ranks."""

import contextlib
import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
with contextlib.suppress(OSError):
    os.remove("lock")
with contextlib.suppress(KeyboardInterrupt):
    for step in range(10):
        value = torch.ones(1)
        dist.all_reduce(value)
dist.barrier()
