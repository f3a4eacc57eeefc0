"""Another entry is no wrapped model."""

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

dist.init_process_group("nccl")
models = {}
models["net"] = FSDP(torch.nn.Linear(4, 4))
models["teacher"] = torch.nn.Linear(4, 4)
if dist.get_rank() == 0:
    torch.save(models["teacher"].state_dict(), "teacher.pt")
dist.barrier()
