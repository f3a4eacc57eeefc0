import datetime
import os
import time

import torch
import torch.distributed as dist


def main(model):
    dist.init_process_group("nccl")
    paths = [f"model-{time.time()}.pth"]
    dist.broadcast_object_list(paths, src=0)
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), paths[0])
    dist.barrier()
    torch.load(paths[0])
