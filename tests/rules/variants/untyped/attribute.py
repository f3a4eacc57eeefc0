"""An attribute that the constructor was given."""

import torch
import torch.distributed as dist


class Checkpoints:
    def __init__(self, path):
        self.path = path

    def save_and_keep(self, state):
        torch.save(state, self.path)
        dist.barrier()

    def write_quietly(self, state):
        torch.save(state, self.path)


class Brain:
    def __init__(self, checkpoints=None):
        self.checkpoints = checkpoints

    def end(self, state):
        if dist.get_rank() == 0:  # expect: DST101
            self.checkpoints.save_and_keep(state)
