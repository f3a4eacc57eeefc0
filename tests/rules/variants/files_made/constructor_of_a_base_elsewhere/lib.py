import os

import torch
import torch.distributed as dist

net = torch.nn.Linear(1, 1)


def setup():
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


class Base:
    def __init__(self, ds, net):
        setup()
        self.x = "out"
