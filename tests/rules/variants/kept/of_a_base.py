"""The class above keeps it."""

import torch
import torch.distributed as dist


class Base:
    def __init__(self):
        self.writes = dist.get_rank() == 0


class Logger(Base):
    def close(self):
        if self.writes:  # expect: DST101
            dist.barrier()
