import os
import shutil

import torch
import torch.distributed as dist
from pytorch_lightning import Trainer
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, data):
    trainer = Trainer(accelerator="gpu", devices=4, strategy="ddp_spawn")
    trainer.fit(net, data)
    torch.save(net.state_dict(), "a.pt")
