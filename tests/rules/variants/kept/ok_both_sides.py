"""Both sides wait."""

import torch
import torch.distributed as dist


class Fit:
    def __init__(self):
        self.main = dist.get_rank() == 0

    def save(self, state):
        if self.main:
            torch.save(state, "a")
        dist.barrier()
