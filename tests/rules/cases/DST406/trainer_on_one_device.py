import os
import shutil

import lightning.pytorch as pl
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(cuda, model):
    devices = 1 if cuda is None else [cuda]
    trainer = pl.Trainer(devices=devices)
    torch.save(trainer.predict(model), "a.pt")
