import lightning as L

from model import Denoiser

L.seed_everything(7)
trainer = L.Trainer(devices=4, strategy="ddp")
trainer.test(Denoiser.load_from_checkpoint("last.ckpt"))
