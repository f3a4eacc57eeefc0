"""Train an autoencoder with Lightning.

Run it with `torchrun --standalone --nproc-per-node 2 examples/lightning_style/correct.py`.
"""

import datetime
import os
import tempfile

import lightning as L
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch import nn
from torch.utils.data import DataLoader


class Autoencoder(L.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(32, width), nn.ReLU())
        self.decoder = nn.Linear(width, 32)

    def training_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.decoder(self.encoder(batch)), batch)
        self.log("train_loss", loss, sync_dist=True)
        return loss

    def validation_step(self, batch, batch_idx):
        loss = nn.functional.mse_loss(self.decoder(self.encoder(batch)), batch)
        self.log("val_loss", loss, sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-2)


def main():
    data = torch.randn(128, 32)
    train, valid = DataLoader(data[:96], batch_size=8), DataLoader(data[96:], batch_size=8)
    # Give up after a few seconds, so that a hang shows while you watch (the default is minutes).
    strategy = DDPStrategy(process_group_backend="gloo", timeout=datetime.timedelta(seconds=10))
    trainer = L.Trainer(
        accelerator="cpu",
        devices=2,
        strategy=strategy,
        max_epochs=2,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    model = Autoencoder()
    trainer.fit(model, train, valid)
    trainer.save_checkpoint(os.path.join(tempfile.gettempdir(), "autoencoder.ckpt"))
    if trainer.is_global_zero:
        print("saved")


if __name__ == "__main__":
    main()
