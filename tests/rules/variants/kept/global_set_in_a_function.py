"""The global is set by a function."""

import torch
import torch.distributed as dist

_main = None


def setup():
    global _main
    dist.init_process_group("nccl")
    _main = dist.get_rank() == 0


def teardown(path):
    if _main:  # expect: DST101
        dist.barrier()
