import lightning as L
from data import Data
from net import Net


def main(args):
    trainer = L.Trainer(devices=args.devices, strategy="ddp", use_distributed_sampler=True)
    trainer.fit(Net(), datamodule=Data())


def evaluate(args):
    trainer = L.Trainer(devices=1, use_distributed_sampler=False)
    trainer.test(Net(), datamodule=Data())


def alone(args):
    trainer = L.Trainer(devices=[0], use_distributed_sampler=False)
    trainer.fit(Net(), datamodule=Data())
