import os

import torch
import torch.distributed as dist


def join():
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    torch.ones(1).cuda(local_rank)
    return dist.get_rank(), local_rank
