from lightning.pytorch import Trainer
from u import ensure_dir


def main(model, loader):
    ensure_dir("saved")
    trainer = Trainer(devices=4, strategy="ddp")
    trainer.fit(model, loader)
