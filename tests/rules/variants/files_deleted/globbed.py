"""A pattern, in the class that saves."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


class Saver:
    def __init__(self, folder, keep):
        self.folder = folder
        self.keep = keep
        self.rank = dist.get_rank()

    def save(self, state, step):
        if self.rank == 0:
            torch.save(state, os.path.join(self.folder, f"step-{step}.pt"))
        dist.barrier()
        found = sorted(glob.glob(os.path.join(self.folder, "*.pt")), key=os.path.getmtime)
        while len(found) > self.keep:
            os.remove(found.pop(0))  # expect: DST413


def main(model, loader, folder):
    dist.init_process_group("nccl")
    saver = Saver(folder, 3)
    for step, batch in enumerate(loader):
        model(batch).sum().backward()
        saver.save(model.state_dict(), step)
