import lightning.pytorch as pl
import torch


class Base(pl.LightningModule):
    @classmethod
    def load_from_checkpoint(cls, path):
        return super().load_from_checkpoint(path)
