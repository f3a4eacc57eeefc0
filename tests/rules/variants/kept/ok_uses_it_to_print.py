"""Only a message depends on it."""

import torch
import torch.distributed as dist


class Fit:
    def __init__(self):
        self.main = dist.get_rank() == 0

    def save(self, x):
        dist.all_reduce(x)
        if self.main:
            print(x)
