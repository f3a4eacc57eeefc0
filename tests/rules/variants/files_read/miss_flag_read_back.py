"""A flag of the object picks rank 0, and all ranks read back at once."""

import os

import torch
import torch.distributed as dist


class Keeper:
    def __init__(self, path, main):
        self.path = path
        self.main = main

    def keep(self, state):
        if self.main:
            torch.save(state, self.path)
        return torch.load(self.path, map_location="cpu")  # expect: DST408


def main(model):
    dist.init_process_group("nccl")
    keeper = Keeper("best.pt", dist.get_rank() == 0)
    return keeper.keep(model.state_dict())
