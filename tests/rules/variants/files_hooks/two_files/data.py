"""Data and what is done in the meantime."""

import os

import numpy as np
import pytorch_lightning as pl


class Data(pl.LightningDataModule):
    def prepare_data(self):
        np.savez("raw.npz", a=1)

    def setup(self, stage=None):
        np.savez("splits.npz", a=1)  # expect: DST406


class Base(pl.Callback):
    pass


class Samples(Base):
    def on_fit_start(self, trainer, pl_module):
        if not os.path.exists("samples"):
            os.makedirs("samples")  # expect: DST414
