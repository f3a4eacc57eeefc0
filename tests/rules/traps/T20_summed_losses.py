"""T20. Losses are added before one backward; the running total is detached."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Heads(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(3, 1) for _ in range(2))

    def forward(self, x):
        return [head(x).mean() for head in self.heads]


dist.init_process_group("gloo")
model = DDP(Heads())
running = torch.zeros(())
for step in range(3):
    total = 0.0
    for loss in model(torch.randn(5, 3)):
        total = total + loss
    total.backward()
    running += total.detach()
dist.all_reduce(running)
print("running =", running.item())
dist.destroy_process_group()
