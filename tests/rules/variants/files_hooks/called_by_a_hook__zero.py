"""The twin: by the decorator."""

import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.utilities import rank_zero_only


class Model(LightningModule):
    @rank_zero_only
    def keep(self):
        torch.save({"a": 3}, "out.pt")

    def on_validation_epoch_end(self):
        self.keep()


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
