"""An attribute made of another."""

import torch
import torch.distributed as dist


class Saver:
    def __init__(self, path):
        self.number = dist.get_rank()
        self.first = self.number == 0
        self.path = path

    def write(self, state):
        if self.first:  # expect: DST101
            torch.save(state, self.path)
            dist.barrier()
