"""training_step gives no loss for a batch that went wrong on this process."""
# effect: fail
# needs: lightning

import lightning as L
import torch
from torch.utils.data import DataLoader


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        loss = self.net(batch).mean()
        if not torch.isfinite(loss):
            return None  # expect: DST117
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = torch.ones(12, 3)
data[4] = float("inf")
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, **quiet)
trainer.fit(Lit(), DataLoader(data, batch_size=2))
