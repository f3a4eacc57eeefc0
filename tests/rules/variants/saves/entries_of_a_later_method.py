"""The dict of an object is filled after it was made."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class T:
    def __init__(self):
        self.models = dict()

    def setup(self):
        self.models["a"] = FSDP(torch.nn.Linear(4, 4))

    def save(self):
        if dist.get_rank() == 0:  # expect: DST407
            for name, net in self.models.items():
                torch.save(net.state_dict(), name)
        dist.barrier()

    def run(self):
        self.setup()
        self.save()


def main(cfg):
    dist.init_process_group("nccl")
    T().run()
