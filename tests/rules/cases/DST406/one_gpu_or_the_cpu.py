import os
import shutil

import torch
import torch.distributed as dist
from pytorch_lightning import Trainer
from torch.nn.parallel import DistributedDataParallel as DDP


def main(args, net, data):
    trainer = Trainer(
        accelerator="gpu" if args.gpu >= 0 else "cpu",
        devices=[args.gpu] if args.gpu >= 0 else "auto",
    )
    trainer.fit(net, data)
    torch.save(net.state_dict(), "a.pt")
