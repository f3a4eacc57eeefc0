"""A save beside the trainer."""

import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def training_step(self, batch, index):
        return batch.sum()


def train(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
    torch.save({"a": 3}, "out.pt")  # expect: DST406
