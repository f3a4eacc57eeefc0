"""The twin: nothing calls the method."""

import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def keep(self):
        torch.save({"a": 3}, "out.pt")


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
