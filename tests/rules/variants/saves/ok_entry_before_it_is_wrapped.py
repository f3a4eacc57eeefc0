"""What rank 0 saves is not wrapped yet."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
models = {"net": torch.nn.Linear(4, 4)}
if dist.get_rank() == 0:
    for name, model in models.items():
        torch.save(model.state_dict(), f"{name}.pt")
dist.barrier()
for name in models:
    models[name] = FSDP(models[name])
