# Lightning 1 loads onto the CPU.
import os
import shutil

import pytorch_lightning as pl
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main(Net, path, args):
    trainer = pl.Trainer.from_argparse_args(args, devices=8)
    pl.Trainer(devices=8).fit(Net.load_from_checkpoint(path))
