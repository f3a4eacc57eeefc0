"""A value is reduced at once, if the batch of this process has something to log."""
# effect: hang
# needs: lightning

import lightning as L
import torch
from torch.utils.data import DataLoader


class MultiTask(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch).pow(2).mean()
        positive = batch[batch > 1]
        if len(positive) > 0:  # expect: DST103
            self.log("positive", positive.mean(), on_step=True, sync_dist=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = torch.ones(12, 3)
data[5] = 2.0
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, **quiet)
trainer.fit(MultiTask(), DataLoader(data, batch_size=2))
