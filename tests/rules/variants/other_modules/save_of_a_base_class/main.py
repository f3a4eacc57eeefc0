import os

import torch
import torch.distributed as dist

from runs import Mine


def main(model):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    Mine(model).run()
