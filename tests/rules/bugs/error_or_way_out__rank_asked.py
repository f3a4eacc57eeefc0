"""Rank 0 returns for want of a folder, unless it raises."""
# static: whether the ranks part is up to a random number

import os

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
loss = torch.rand(1)


def save(lenient):
    if dist.get_rank() == 0 and not os.path.isdir("out"):
        if lenient:
            return False  # expect: DST104
        raise FileNotFoundError("out")
    dist.barrier()
    return True


save(os.environ.get("LENIENT"))
