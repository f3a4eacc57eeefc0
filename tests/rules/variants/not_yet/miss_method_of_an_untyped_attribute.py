"""The only class with such a method is meant."""

import torch.distributed as dist


class Checkpoints:
    def save_and_keep(self):
        dist.barrier()


class Brain:
    def __init__(self, checkpoints=None):
        self.checkpoints = checkpoints

    def end(self):
        if dist.get_rank() == 0:  # expect: DST101
            self.checkpoints.save_and_keep()
