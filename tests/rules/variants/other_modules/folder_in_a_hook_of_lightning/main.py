from lightning.pytorch import LightningModule, Trainer
from u import ensure_dir


class Model(LightningModule):
    def on_fit_start(self):
        if self.global_rank == 0:
            print("begins")
        ensure_dir("saved")


def main(loader):
    Trainer(devices=4, strategy="ddp").fit(Model(), loader)
