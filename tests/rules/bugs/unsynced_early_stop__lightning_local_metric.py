"""A Lightning callback compares a metric of this process and sets should_stop."""
# effect: hang
# needs: lightning

import lightning as L
import torch
from torch.utils.data import DataLoader


class Threshold(L.Callback):
    def __init__(self, limit):
        self.limit = limit

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        share = (batch[:, 0] > 1).float().mean().item()
        if share > self.limit:
            trainer.should_stop = True  # expect: DST102


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


data = torch.ones(40, 4)
data[1::2] = 2.0
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(
    accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, callbacks=[Threshold(0.6)], **quiet
)
trainer.fit(Model(), DataLoader(data, batch_size=2))
