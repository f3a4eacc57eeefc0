"""T24. find_unused_parameters=True that is needed: the head is chosen by the data."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(4, 4)
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 1), "b": nn.Linear(4, 2)})

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


dist.init_process_group("gloo")
rank = dist.get_rank()
ddp = DDP(Net(), find_unused_parameters=True)
for step in range(3):
    task = "a" if (step + rank) % 2 == 0 else "b"
    ddp(torch.randn(2, 4), task).sum().backward()
dist.destroy_process_group()
