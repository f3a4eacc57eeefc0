import os

import torch
import torch.distributed as dist

from files import save


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    save(model, "last.pt", dist.get_rank() == 0)
