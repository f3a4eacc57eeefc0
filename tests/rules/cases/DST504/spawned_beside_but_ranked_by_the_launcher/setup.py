import os

import torch
import torch.distributed as dist


def setup():
    dist.init_process_group("nccl", rank=int(os.environ["RANK"]), world_size=8)
    torch.cuda.set_device(dist.get_rank())  # expect: DST504
