"""All ranks gather; rank 0 alone prints."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
model = FSDP(torch.nn.Linear(2, 2))
with FSDP.summon_full_params(model, rank0_only=True, writeback=False):
    if dist.get_rank() == 0:
        print(model)
