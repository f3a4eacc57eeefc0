import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def train(self, net, rank):
        self.net = DDP(net)
        if rank == 0:
            self.save(best=False)
        self.save(best=True)

    def save(self, best=False):
        if not best:
            torch.save(self.net.module, "last.pt")
        else:
            torch.save(self.net.module, "best.pt")  # expect: DST406
