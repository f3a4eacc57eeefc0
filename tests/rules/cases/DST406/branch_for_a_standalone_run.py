# A run of one process has no other ranks.
import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net):
    dist.init_process_group("nccl")
    if not args.standalone:
        dist.barrier()
        if dist.get_rank() == 0:
            torch.save(net.state_dict(), "a.pt")
    else:
        torch.save(net.state_dict(), "a.pt")
