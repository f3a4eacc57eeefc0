"""What is kept is sometimes the rank's and sometimes not: nothing is known."""

import torch
import torch.distributed as dist


class Fit:
    def __init__(self, solo):
        self.main = True if solo else dist.get_rank() == 0

    def save(self, state):
        if self.main:
            torch.save(state, "a")
        dist.barrier()
