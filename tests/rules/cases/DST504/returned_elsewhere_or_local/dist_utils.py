import os

import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    return dist.get_rank()
