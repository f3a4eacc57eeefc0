"""The loader is an attribute."""

import torch
import torch.distributed as dist
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, loader, optimizer):
        self.model, self.loader, self.optimizer = model, loader, optimizer

    def train_epoch(self):
        for inputs, target in self.loader:
            loss = F.nll_loss(self.model(inputs), target)
            if loss.item() > 100:
                continue  # expect: DST117
            loss.backward()
            dist.all_reduce(loss)
            self.optimizer.step()
