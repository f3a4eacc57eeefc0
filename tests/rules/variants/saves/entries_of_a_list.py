"""A list of wrapped models."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
stages = []
for width in (4, 8):
    stages.append(FSDP(torch.nn.Linear(width, width)))
rank = dist.get_rank()
if rank == 0:  # expect: DST407
    for number, stage in enumerate(stages):
        torch.save(stage.state_dict(), f"stage{number}.pt")
dist.barrier()
