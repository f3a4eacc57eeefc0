import os

import torch
import torch.distributed as dist

from trainer import Trainer


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    Trainer(model, dist.get_rank()).fit()
