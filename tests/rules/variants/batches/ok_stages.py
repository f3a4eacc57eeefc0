"""Stages that have loaders are the same on all ranks."""

import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def train(model, stages, opt):
    model = DDP(model)
    for stage in stages:
        for batch in stage.loader:
            loss = model(batch)
            loss.backward()
            opt.step()
        if stage.sync:
            dist.barrier()
