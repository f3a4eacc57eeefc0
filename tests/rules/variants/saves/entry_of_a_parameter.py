"""A function is given the dict."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def checkpoint(objects, path):
    if dist.get_rank() == 0:  # expect: DST407
        torch.save({"model": objects["model"].state_dict()}, path)
    dist.barrier()


def build():
    objects = dict()
    objects["model"] = FSDP(torch.nn.Linear(4, 4))
    objects["optimizer"] = torch.optim.SGD(objects["model"].parameters(), lr=0.1)
    return objects


dist.init_process_group("nccl")
checkpoint(build(), "all.pt")
