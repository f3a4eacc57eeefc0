import os

import torch
import torch.distributed as dist


def join(args):
    place = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl", rank=place)  # expect: DST502
    dist.all_reduce(torch.zeros(1).cuda())
