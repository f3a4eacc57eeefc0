"""A role that is no event."""

import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def setup(self, stage):
        torch.save({"a": 3}, "out.pt")  # expect: DST406


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
