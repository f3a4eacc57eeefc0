"""Rank 0 sets should_stop; a barrier lines the ranks up but does not share the value."""
# effect: hang
# needs: lightning

import lightning as L
import torch
from torch.utils.data import DataLoader


class RemoteStop(L.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if trainer.is_global_zero and batch_idx == 2:  # expect: DST110
            trainer.should_stop = True
        trainer.strategy.barrier()


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(
    accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, callbacks=[RemoteStop()], **quiet
)
trainer.fit(Model(), DataLoader(torch.randn(40, 4), batch_size=2))
