"""A step saves."""

import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def training_step(self, batch, index):
        loss = batch.sum()
        torch.save({"a": 3}, "out.pt")  # expect: DST406
        return loss


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
