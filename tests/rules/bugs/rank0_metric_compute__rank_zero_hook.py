"""A hook that runs on rank 0 only computes a metric that synchronises."""
# effect: hang
# needs: lightning, torchmetrics

import lightning as L
import torch
import torchmetrics
from lightning.pytorch.utilities import rank_zero_only
from torch.utils.data import DataLoader


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.f1 = torchmetrics.F1Score(task="binary")

    def training_step(self, batch, index):
        out = self.layer(batch)
        self.f1.update(out.sigmoid().squeeze(-1).detach(), torch.ones(len(batch)).long())
        return out.pow(2).mean()

    @rank_zero_only  # expect: DST116
    def on_train_epoch_end(self):
        print("f1", self.f1.compute().item())
        self.f1.reset()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, **quiet)
trainer.fit(Lit(), DataLoader(torch.randn(8, 3), batch_size=2))
