"""T22. Gradient synchronisation switched by attribute, only in the last micro-batch."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

dist.init_process_group("gloo")
rank = dist.get_rank()
model = DDP(torch.nn.Linear(4, 1))
accum = 3
it = iter(torch.randn(9, 2, 4) + rank)
for step in range(3):
    for micro in range(accum):
        model.require_backward_grad_sync = micro == accum - 1
        (model(next(it)).mean() / accum).backward()
dist.destroy_process_group()
