import lightning.pytorch as pl
import torch


class Base(pl.LightningModule):
    @classmethod
    def load_from_checkpoint(cls, path):
        return torch.load(path, map_location="cpu")
