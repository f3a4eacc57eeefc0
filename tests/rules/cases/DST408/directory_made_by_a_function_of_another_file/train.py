import os

import torch
import torch.distributed as dist
from files import prepare_folder


def main(rank, folder, state):
    dist.init_process_group("gloo")
    paths = {}
    if rank == 0:
        prepare_folder(folder)
    paths["mine"] = os.path.join(folder, f"state_{rank}.pt")
    torch.save(state, paths["mine"])  # expect: DST408
