"""A dict is filled by update and setdefault."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


dist.init_process_group("nccl")
kept = {}
kept.update(net=FSDP(torch.nn.Linear(4, 4)))
if dist.get_rank() == 0:  # expect: DST407
    torch.save(kept["net"].state_dict(), "net.pt")
dist.barrier()
