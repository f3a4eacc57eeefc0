import lightning.pytorch as pl
from data import Data
from net import Net
from options import options


def main(args):
    trainer = pl.Trainer(strategy="ddp", **options(args))
    trainer.fit(Net(), datamodule=Data())
