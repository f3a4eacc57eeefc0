"""The wrapped model is an entry of a dict."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
models = {}
models["net"] = FSDP(torch.nn.Linear(4, 4))
if dist.get_rank() == 0:  # expect: DST407
    torch.save(models["net"].state_dict(), "net.pt")
dist.barrier()
