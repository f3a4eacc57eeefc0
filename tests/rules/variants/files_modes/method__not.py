"""The twin: both arms without a test."""

import torch
import torch.distributed as dist


class Trainer:
    def __init__(self, model, rank, distributed):
        self.model, self.rank, self.distributed = model, rank, distributed

    def save(self, rank):
        torch.save(self.model.state_dict(), "model.pt")  # expect: DST406

    def fit(self):
        if self.distributed:
            dist.init_process_group("nccl")
        self.model(torch.ones(2, 2)).mean().backward()
        if self.distributed:
            self.save(self.rank)
        else:
            self.save(self.rank)
