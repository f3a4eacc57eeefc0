import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

parser = argparse.ArgumentParser()
parser.add_argument("--resume")
parser.add_argument("--weights")
args = parser.parse_args()
dist.init_process_group("gloo")
rank = dist.get_rank()


class Trainer:
    def __init__(self, net):
        self.model = DDP(net)

    def resume(self, checkpoint_path):
        snapshot = torch.load(checkpoint_path, map_location="cpu")
        self.model.load_state_dict(snapshot["model"])  # expect: DST416

    def save(self, path):
        if rank == 0:
            torch.save({"model": self.model.module.state_dict()}, path)


trainer = Trainer(torch.nn.Linear(2, 1))
trainer.resume("out.pt")
trainer.save("out.pt")
