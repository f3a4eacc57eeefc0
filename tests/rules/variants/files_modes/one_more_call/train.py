"""The twin: a call beside the chain."""

import os

import torch
import torch.distributed as dist
from checkpoints import keep
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, cfg):
    rank = int(os.environ.get("RANK", 0))
    if cfg.enable_ddp:
        dist.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        model = DDP(model)
    for batch in torch.ones(4, 2, 2):
        model(batch).mean().backward()
    if cfg.enable_ddp:
        if rank == 0:
            keep(model, rank, cfg.folder)
    else:
        keep(model, rank, cfg.folder)
    keep(model, rank, "last")
