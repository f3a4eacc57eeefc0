"""A namespace keeps what is wrapped, and a method saves by its name."""

from types import SimpleNamespace

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Session:
    def __init__(self, config):
        self.parts = SimpleNamespace()
        self.parts.net = FSDP(torch.nn.Linear(4, 4))
        self.rank = dist.get_rank()

    @property
    def is_main(self):
        return self.rank == 0

    def snapshot(self, path):
        if self.is_main:  # expect: DST407
            torch.save(self.parts.net.state_dict(), path)
        dist.barrier()


def main(config):
    dist.init_process_group("nccl")
    session = Session(config)
    session.snapshot("net.pt")
