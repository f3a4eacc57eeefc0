"""The trainer is in another file."""

import pytorch_lightning as pl
from data import Data, Samples


def main(cfg, model):
    trainer = pl.Trainer(
        accelerator="gpu" if cfg.gpus else "cpu", devices=cfg.gpus, callbacks=[Samples()]
    )
    trainer.fit(model, datamodule=Data())
