"""A method that a hook calls."""

import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def keep(self):
        torch.save({"a": 3}, "out.pt")  # expect: DST406

    def on_validation_epoch_end(self):
        self.keep()


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
