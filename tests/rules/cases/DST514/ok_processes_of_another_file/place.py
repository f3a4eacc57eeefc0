import os
from dataclasses import dataclass

import torch


@dataclass
class Place:
    node: int
    gpus: int
    world: int


def here():
    gpus = torch.cuda.device_count()
    world = int(os.environ["SLURM_NTASKS"]) * torch.cuda.device_count()
    return Place(node=int(os.environ["SLURM_NODEID"]), gpus=gpus, world=world)
