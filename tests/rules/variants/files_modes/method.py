"""A method with a parameter called rank."""

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, model, rank, distributed):
        self.model, self.rank, self.distributed = model, rank, distributed

    def save(self, rank):
        torch.save(self.model.state_dict(), "model.pt")

    def fit(self):
        if self.distributed:
            dist.init_process_group("nccl")
        self.model(torch.ones(2, 2)).mean().backward()
        if self.distributed:
            if self.rank == 0:
                self.save(self.rank)
        else:
            self.save(self.rank)
