import os

import torch.distributed as dist


def setup():
    rank = int(os.environ["RANK"])
    dist.init_process_group("nccl", rank=rank)
    return rank
