"""The object is one of another class."""

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


class Local:
    def keep_state(self, state):
        torch.save(state, "x")


def end(state):
    keeper = Local()
    if dist.get_rank() == 0:
        keeper.keep_state(state)
    dist.barrier()
