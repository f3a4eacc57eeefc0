"""A display has the wrapped models."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
nets = {"encoder": FSDP(torch.nn.Linear(4, 4)), "decoder": FSDP(torch.nn.Linear(4, 4))}
if dist.get_rank() == 0:  # expect: DST407
    torch.save(nets["decoder"].state_dict(), "decoder.pt")
dist.barrier()
