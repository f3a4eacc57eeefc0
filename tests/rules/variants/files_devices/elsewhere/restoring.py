"""Restores a model."""

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, model, device):
        self.model = model.to(device)
        state = torch.load("model.pt")
        self.model.load_state_dict(state)
        self.model = torch.nn.parallel.DistributedDataParallel(self.model)
        print(dist.get_rank())
