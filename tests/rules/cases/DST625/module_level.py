import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

ddp_rank = int(os.environ["RANK"])
dist.init_process_group("nccl")
master_process = ddp_rank == 0
model = DDP(torch.nn.Linear(2, 1))
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    model(torch.randn(4, 2)).mean().backward()
    optimizer.step()
    if master_process:
        for param_group in optimizer.param_groups:
            param_group["lr"] = 0.1 / (step + 1)  # expect: DST625
    optimizer.zero_grad(set_to_none=True)
