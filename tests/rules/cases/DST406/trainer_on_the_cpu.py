# Lightning starts one process there by default.
import os
import shutil

import lightning.pytorch as pl
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def convert(model, strategy):
    trainer = pl.Trainer(accelerator="cpu", strategy=strategy)
    torch.save(trainer.predict(model), "a.pt")
