"""A LightningModule skips the batch that does not fit."""
# effect: fail
# needs: lightning

import lightning as L
import torch
from torch.utils.data import DataLoader


class General(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def model_step(self, batch):
        if batch.max() > 50:  # stands for a sequence that is too long for the GPU
            raise torch.OutOfMemoryError("CUDA out of memory")
        return self.layer(batch).pow(2).mean()

    def training_step(self, batch, index):
        try:
            return self.model_step(batch)
        except RuntimeError as error:  # expect: DST108
            if "out of memory" in str(error):
                torch.cuda.empty_cache()
                return None
            raise

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


data = torch.ones(12, 3)
data[5] = 99.0
quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp", max_epochs=1, **quiet)
trainer.fit(General(), DataLoader(data, batch_size=2))
