import os
import torch
import torch.distributed as dist


def setup(cfg):
    cfg.rank = dist.get_rank()
    cfg.save = cfg.rank == 0
    cfg.primary = cfg.rank == 0
    return cfg
