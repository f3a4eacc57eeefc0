import sys

import torch
import torch.distributed as dist


def begin():
    dist.init_process_group("nccl")
    if dist.get_world_size() > torch.cuda.device_count():
        sys.exit("one node only")
    torch.cuda.set_device(dist.get_rank())
