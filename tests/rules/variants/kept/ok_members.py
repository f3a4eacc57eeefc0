"""Members of a group meet in it."""

import torch
import torch.distributed as dist


class Fit:
    def __init__(self):
        self.first = dist.get_rank() < 2
        self.group = dist.new_group([0, 1])

    def save(self, x):
        if self.first:
            dist.all_reduce(x, group=self.group)
