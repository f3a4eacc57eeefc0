import os
import torch
import torch.distributed as dist


class Base:
    def __init__(self):
        self.rank = dist.get_rank()
        self.can_save = self.rank == 0
