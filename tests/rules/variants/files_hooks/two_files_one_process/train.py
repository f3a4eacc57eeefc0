"""The twin: one process."""

import pytorch_lightning as pl
from data import Data, Samples


def main(cfg, model):
    trainer = pl.Trainer(accelerator="gpu", devices=1, callbacks=[Samples()])
    trainer.fit(model, datamodule=Data())
