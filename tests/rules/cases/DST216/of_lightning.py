import lightning as L
import torch
import torch.nn.functional as F


class Denoiser(L.LightningModule):
    def shared(self, batch):
        noise = torch.randn_like(batch)
        return F.mse_loss(self(batch + noise), noise)

    def training_step(self, batch, batch_idx):
        loss = self.shared(batch)
        self.log("loss", loss)
        return loss


def main(loader):
    L.seed_everything(7, workers=True)  # expect: DST216
    trainer = L.Trainer(devices=4, strategy="ddp")
    trainer.fit(Denoiser(), loader)
