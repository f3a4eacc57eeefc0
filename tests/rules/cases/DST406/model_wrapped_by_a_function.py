"""A function wraps the model, or makes the trainer, as another function calls it."""

import torch
from pytorch_lightning import Trainer
from torch.nn.parallel import DistributedDataParallel as DDP


def wrapped(model):
    return DDP(model)


def trainer_for(gpus):
    return Trainer(accelerator="gpu", devices=gpus, strategy="ddp")


def main(args, model):
    if args.distributed:
        model = wrapped(model)
    torch.save(model.state_dict(), "a.pt")  # expect: DST406


def fit(model, data):
    trainer = trainer_for(4)
    trainer.fit(model, data)
    torch.save(model.state_dict(), "b.pt")  # expect: DST406
