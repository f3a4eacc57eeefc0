"""The parameters of a sharded model are gathered on rank 0 alone."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
model = FSDP(torch.nn.Linear(2, 2))
if dist.get_rank() == 0:  # expect: DST101
    with FSDP.summon_full_params(model):
        print(model)
