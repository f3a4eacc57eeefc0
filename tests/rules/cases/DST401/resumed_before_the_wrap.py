import os
import shutil

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, path):
        self.model = net
        if path:
            self.resume(path)
        self.model = DDP(self.model)

    def resume(self, path):
        self.model.load_state_dict(torch.load(path, map_location="cpu"))

    def save(self, path):
        torch.save(self.model.state_dict(), path)  # expect: DST401
