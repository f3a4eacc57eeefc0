"""A parameter of a function."""

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


def end(keeper, state):
    if dist.get_rank() == 0:  # expect: DST101
        keeper.save_and_keep(state)
