"""The entry is asked for by get."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


dist.init_process_group("nccl")
kept = {"net": FSDP(torch.nn.Linear(4, 4)), "ema": None}
if dist.get_rank() == 0:  # expect: DST407
    net = kept.get("net")
    torch.save(net.state_dict(), "net.pt")
dist.barrier()
