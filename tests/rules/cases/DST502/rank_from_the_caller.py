# The callers know the local rank.
import os

import torch
import torch.distributed as dist


def join(args):
    place = args.rank
    dist.init_process_group("nccl", rank=place)
    dist.all_reduce(torch.zeros(1).cuda())
