import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, rank, writes):
        self.rank = rank
        self.writes = writes

    def save(self):
        if self.writes:
            torch.save({}, "a.pt")


def main(rank):
    dist.init_process_group("nccl")
    Trainer(rank, rank == 0).save()
