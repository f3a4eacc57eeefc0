import contextlib

import torch
import torch.distributed as dist

with contextlib.suppress(Exception):  # expect: DST515
    dist.init_process_group("nccl")
model = torch.nn.Linear(2, 2)
if dist.is_initialized():
    model = torch.nn.parallel.DistributedDataParallel(model.cuda())
torch.save(model.state_dict(), "model.pt")
