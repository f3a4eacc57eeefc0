import os

import torch
import torch.distributed as dist

from files import save
from other import finish


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if dist.get_rank() == 0:
        save(model, "last.pt")
    finish(model)
