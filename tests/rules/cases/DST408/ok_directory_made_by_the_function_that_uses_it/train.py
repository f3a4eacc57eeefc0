import os

import torch.distributed as dist
from files import save


def main(rank, folder, state):
    dist.init_process_group("gloo")
    if rank == 0:
        os.makedirs(folder, exist_ok=True)
    save(folder, state, rank)
