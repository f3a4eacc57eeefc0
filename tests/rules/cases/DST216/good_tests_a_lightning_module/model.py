import lightning as L
import torch


class Denoiser(L.LightningModule):
    def training_step(self, batch, batch_idx):
        noise = torch.randn_like(batch)
        return (self(batch + noise) - noise).square().mean()
