"""An early-stopping object that each rank feeds with its own validation loss."""
# effect: hang

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class EarlyStopping:
    def __init__(self, patience):
        self.patience = patience
        self.best = None
        self.count = 0
        self.stop = False

    def update(self, loss):
        if self.best is None or loss < self.best:
            self.best, self.count = loss, 0
        else:
            self.count += 1
            self.stop = self.count >= self.patience


def validation_loss(model, batch):
    with torch.no_grad():
        return model.module(batch).pow(2).mean().item()


dist.init_process_group("gloo")
torch.manual_seed(3 + dist.get_rank())
model = DDP(torch.nn.Linear(3, 1))
stopper = EarlyStopping(patience=2)
for epoch in range(30):
    model(torch.randn(4, 3)).mean().backward()
    stopper.update(validation_loss(model, torch.randn(4, 3)))
    if stopper.stop:
        break  # expect: DST102
dist.barrier()
