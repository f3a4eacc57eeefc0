"""A rank that cannot load its file exits with success, and only rank 0 would say so."""
# effect: hang

import os
import sys
import tempfile

import torch
import torch.distributed as dist


def load(path, rank):
    try:
        state = torch.load(path, map_location="cpu")
    except OSError as error:  # expect: DST108
        if rank == 0:
            print("could not load", error)
        sys.exit()
    dist.barrier()
    return state


dist.init_process_group("gloo")
rank = dist.get_rank()
path = os.path.join(tempfile.mkdtemp(), "shard.pt")
if rank == 0:
    torch.save({"step": 1}, path)
load(path, rank)
