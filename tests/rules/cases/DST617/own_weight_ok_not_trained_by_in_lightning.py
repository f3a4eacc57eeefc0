import lightning.pytorch as pl
import torch


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        self.losses = []
        self.scale = 1.0

    def training_step(self, batch, index):
        return self.net(batch).mean()

    def validation_step(self, batch, index):
        self.losses.append(self.net(batch).mean())

    def on_validation_epoch_end(self):
        mean = torch.stack(self.losses).mean()
        if mean > 1:
            self.scale = 1 / mean.item()
        self.losses = []
