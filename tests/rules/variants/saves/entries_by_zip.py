"""Names and models side by side."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


dist.init_process_group("nccl")
names = ["a", "b"]
models = [FSDP(torch.nn.Linear(4, 4)) for _ in names]
if dist.get_rank() == 0:  # expect: DST407
    for name, model in zip(names, models):
        torch.save(model.state_dict(), name + ".pt")
dist.barrier()
