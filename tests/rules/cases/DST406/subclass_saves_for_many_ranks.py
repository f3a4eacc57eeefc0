import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Basic:
    def train(self, batches):
        for batch in batches:
            if self.rank == 0:
                print(self.step(batch))
            self.save()

    def save(self):
        torch.save(self.net.state_dict(), "net.pt")


class Sharded(Basic):
    def save(self):
        state = self.net.state_dict()
        if self.rank == 0:
            torch.save(state, "net.pt")
        dist.barrier()
