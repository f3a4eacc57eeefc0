"""The twin: nothing says that there are several processes."""

import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def on_test_epoch_end(self):
        torch.save({"a": 3}, "out.pt")


def train(loader):
    Trainer(max_epochs=3).fit(Model(), loader)
