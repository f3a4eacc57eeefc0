import os

import torch
import torch.distributed as dist


def join(args):
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    if args.cuda("cuda"):
        dist.init_process_group("nccl")  # expect: DST502
    return rank
