"""All ranks but one reduce."""

import torch
import torch.distributed as dist


def log(loss, writer_rank):
    rank = dist.get_rank()
    if rank != writer_rank:  # expect: DST101
        dist.all_reduce(loss)
