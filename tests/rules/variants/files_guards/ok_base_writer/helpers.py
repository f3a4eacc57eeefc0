import os
import torch
import torch.distributed as dist


class Base:
    def __init__(self):
        self.out = open("x.csv", "w") if dist.get_rank() == 0 else None
