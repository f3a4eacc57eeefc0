"""The value that ModelCheckpoint monitors is logged on rank 0 only."""
# static: whether the save paths part depends on the values and the version of Lightning
# needs: lightning

import lightning as L
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()

    def validation_step(self, batch, index):
        loss = self.layer(batch).pow(2).mean()
        self.log("val_loss", loss, rank_zero_only=True)  # expect: DST116

    def configure_callbacks(self):
        return [ModelCheckpoint(monitor="val_loss", save_top_k=2)]

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=3)
trainer.fit(Lit(), DataLoader(torch.randn(8, 3)), DataLoader(torch.randn(8, 3)))
