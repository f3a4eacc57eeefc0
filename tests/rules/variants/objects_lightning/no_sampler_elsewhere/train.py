import lightning as L
from data import Data
from net import Net


def main(args):
    trainer = L.Trainer(devices=args.devices, strategy="ddp", use_distributed_sampler=False)
    trainer.fit(Net(), datamodule=Data())
