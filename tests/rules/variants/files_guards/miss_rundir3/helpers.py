import os
import torch
import torch.distributed as dist


class Run:
    def __init__(self):
        self.rank = dist.get_rank()

    def path(self, n):
        return f"{n}_{self.rank}.pt"
