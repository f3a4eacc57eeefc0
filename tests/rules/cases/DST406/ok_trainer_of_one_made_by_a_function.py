"""The function makes a trainer for one process, or wraps a model in some runs for its callers."""

import torch
from pytorch_lightning import Trainer
from torch.nn.parallel import DistributedDataParallel as DDP


def trainer_for_one():
    return Trainer(accelerator="gpu", devices=1)


def build(model, distributed):
    if distributed:
        return DDP(model)
    return model


def fit(model, data):
    trainer = trainer_for_one()
    trainer.fit(model, data)
    torch.save(model.state_dict(), "b.pt")


def convert(path, net):
    model = build(net, distributed=False)
    torch.save(model.state_dict(), path)
