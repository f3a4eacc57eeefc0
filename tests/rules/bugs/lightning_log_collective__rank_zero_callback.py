"""A callback hook for rank 0 logs a value that is reduced over the processes."""
# effect: hang
# needs: lightning

import lightning as L
import torch
from lightning.pytorch.utilities import rank_zero_only
from torch.utils.data import DataLoader


class Evaluate(L.Callback):
    def __init__(self, songs):
        self.songs = songs

    @rank_zero_only  # expect: DST116
    def on_train_epoch_end(self, trainer, pl_module):
        with torch.no_grad():
            score = pl_module.layer(self.songs).abs().mean()
        pl_module.log("score", score, sync_dist=True)


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(
    accelerator="cpu",
    devices=2,
    strategy="ddp",
    max_epochs=2,
    callbacks=[Evaluate(torch.ones(2, 3))],
    **quiet,
)
trainer.fit(Lit(), DataLoader(torch.randn(8, 3), batch_size=2))
