"""Only the file of before, in the epoch."""

import glob
import os
import shutil
from pathlib import Path

import torch
import torch.distributed as dist


def main(model, loader, folder, epochs):
    dist.init_process_group("nccl")
    last = None
    for epoch in range(epochs):
        for batch in loader:
            model(batch).sum().backward()
        path = os.path.join(folder, f"{epoch}.pt")
        if dist.get_rank() == 0:
            torch.save(model.state_dict(), path)
        if last is not None and os.path.exists(last):
            os.remove(last)  # expect: DST413
        last = path
