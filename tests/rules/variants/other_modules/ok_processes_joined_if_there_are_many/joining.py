import os

import torch
import torch.distributed as dist


def setup(args):
    if not args.distributed:
        return
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
