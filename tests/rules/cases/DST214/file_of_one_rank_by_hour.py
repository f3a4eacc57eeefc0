import datetime
import os
import time

import torch
import torch.distributed as dist


def main(model):
    dist.init_process_group("nccl")
    path = "model-%s.pth" % time.strftime("%b-%d-%Y_%H")
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    torch.load(path)
