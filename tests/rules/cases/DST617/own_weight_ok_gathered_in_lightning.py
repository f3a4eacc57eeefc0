import lightning.pytorch as pl
import numpy as np
import torch


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        self.weight = 1.0
        self.best = 0.0

    def penalty(self, out):
        return self.weight * out.std()

    def training_step(self, batch, index):
        out = self.net(batch)
        return out.mean() + self.penalty(out)

    def validation_step(self, batch, index):
        return {"psnr": self.net(batch).mean().item()}

    def validation_epoch_end(self, outputs):
        found = []
        for out in outputs:
            found.append(out["psnr"])
        psnr = self.all_gather(torch.tensor(found)).mean().item()
        self.best = max(self.best, psnr)
        self.weight += 0.02 * (2.5 - psnr)
