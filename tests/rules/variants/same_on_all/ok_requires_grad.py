"""Whether a loss needs gradients depends on the mode, not on its value."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
model = DDP(torch.nn.Linear(3, 1))


def step(batch):
    loss = model(batch).mean()
    if loss.requires_grad:
        loss.backward()


def weighted(batch):
    loss = model(batch).mean() * 2
    if not loss.requires_grad:
        return
    loss.backward()


class Trainer:
    def step(self, batch):
        self.loss = model(batch).mean()
        if self.loss.requires_grad:
            self.loss.backward()


trainer = Trainer()
for batch in torch.randn(4, 2, 3):
    step(batch)
    weighted(batch)
    trainer.step(batch)
