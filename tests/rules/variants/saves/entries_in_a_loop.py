"""All models of a dict are saved in a loop."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
models = {"encoder": torch.nn.Linear(4, 4), "decoder": torch.nn.Linear(4, 4)}
for name in models:
    models[name] = FSDP(models[name])
if dist.get_rank() == 0:  # expect: DST407
    for name, model in models.items():
        torch.save(model.state_dict(), f"{name}.pt")
dist.barrier()
