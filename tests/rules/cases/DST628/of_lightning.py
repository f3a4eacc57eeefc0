import lightning.pytorch as pl
import torch
from torch import nn


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.heads = [nn.Linear(4, 2) for _ in range(2)]  # expect: DST628

    def training_step(self, batch, index):
        return sum(head(batch).mean() for head in self.heads)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(loader):
    pl.Trainer(devices=2, strategy="ddp").fit(Net(), loader)
