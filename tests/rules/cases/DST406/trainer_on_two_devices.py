import os
import shutil

import lightning.pytorch as pl
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(model):
    trainer = pl.Trainer(devices=[0, 1])
    torch.save(trainer.predict(model), "a.pt")  # expect: DST406
