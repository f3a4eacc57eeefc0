"""A collective of its own in a step, and a condition on nothing but the batch."""
# effect: hang
# needs: lightning

import lightning as L
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader


class Masked(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def validation_step(self, batch, index):
        total = self.layer(batch).sum()
        if (batch > 0).any():  # expect: DST103
            dist.all_reduce(total)
        return total

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    data = DataLoader([torch.tensor([float(n % 2)]) for n in range(4)])
    trainer = L.Trainer(
        accelerator="cpu",
        devices=2,
        strategy="ddp",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.validate(Masked(), data)
