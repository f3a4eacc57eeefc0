"""All ranks pass True."""

import os

import torch
import torch.distributed as dist


class Writer:
    def __init__(self, folder, enabled):
        self.folder = folder
        self.enabled = enabled

    def write(self, state):
        if self.enabled:
            torch.save(state, os.path.join(self.folder, "state.pt"))  # expect: DST406


def main(model, folder):
    dist.init_process_group("nccl")
    writer = Writer(folder, True)
    writer.write(model.state_dict())
    dist.barrier()
