import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Root:
    def __init__(self, model):
        self.model = model

    def resume(self):
        self.model = DDP(torch.nn.Linear(2, 2))
