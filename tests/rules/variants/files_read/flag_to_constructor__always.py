"""Without the test of the flag, all ranks write."""

import os

import torch
import torch.distributed as dist


class Writer:
    def __init__(self, folder, enabled):
        self.folder = folder
        self.enabled = enabled

    def write(self, state):
        torch.save(state, os.path.join(self.folder, "state.pt"))  # expect: DST406


def main(model, folder):
    dist.init_process_group("nccl")
    writer = Writer(folder, dist.get_rank() == 0)
    writer.write(model.state_dict())
    dist.barrier()
    return torch.load(os.path.join(folder, "state.pt"), map_location="cpu")
