import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Base:
    def __init__(self, model, rank):
        self.rank = rank
        self.model = model

    def resume(self):
        self.model = DDP(torch.nn.Linear(2, 2), device_ids=[self.rank])
