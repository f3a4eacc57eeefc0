# Lightning 2 loads onto the device that the file names.
import os
import shutil

import lightning.pytorch as pl
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(Net, path):
    trainer = pl.Trainer(devices=8)
    trainer.fit(Net.load_from_checkpoint(path))  # expect: DST404
