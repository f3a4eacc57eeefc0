"""A class of another file gets the rank, and writes events whatever it is."""

import torch.distributed as dist
from trainer import Trainer


def main(model, loader):
    dist.init_process_group("nccl")
    trainer = Trainer(model, loader, dist.get_rank())
    trainer.train()
