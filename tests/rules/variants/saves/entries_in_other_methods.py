"""Models are kept by name in one method, and saved by two others that call each other."""

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.models = dict()

    def is_master(self):
        return dist.get_rank() == 0

    def setup(self):
        for name in ("generator", "critic"):
            self.models[name] = self.wrap(torch.nn.Linear(4, 4))

    def wrap(self, net):
        return FSDP(net)

    def states(self):
        return {name: net.state_dict() for name, net in self.models.items()}

    def save(self, step):
        if not self.is_master():
            return  # expect: DST407
        path = os.path.join(self.cfg.folder, f"{step}.pt")
        torch.save(self.states(), path)

    def run(self):
        self.setup()
        for step in range(self.cfg.steps):
            self.save(step)
            dist.barrier()


def main(cfg):
    dist.init_process_group("nccl")
    Trainer(cfg).run()
