import lightning.pytorch as pl
from models import Large, Small


def load(cls, path):
    return cls.load_from_checkpoint(path)  # expect: DST404


def main(path):
    trainer = pl.Trainer(devices=8)
    trainer.fit(load(Large, path))
    trainer.fit(Large.load_from_checkpoint(path))  # expect: DST404
    trainer.fit(Small.load_from_checkpoint(path))  # expect: DST404
