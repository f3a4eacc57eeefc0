import os

import torch.distributed as dist


def setup():
    dist.init_process_group("nccl")
    return int(os.environ["LOCAL_RANK"])
