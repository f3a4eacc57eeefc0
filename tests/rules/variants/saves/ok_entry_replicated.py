"""Entries of a dict that each rank has as a whole."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
models = {"a": torch.nn.Linear(4, 4)}
for name in models:
    models[name] = DDP(models[name])
if dist.get_rank() == 0:
    for name, model in models.items():
        torch.save(model.module.state_dict(), f"{name}.pt")
dist.barrier()
