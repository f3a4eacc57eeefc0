"""T35. A method of `.module` in a step that also calls the wrapper."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.trunk(x)

    def head_loss(self, feats, y):
        return (self.head(feats).squeeze(-1) - y).pow(2).mean()


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
ddp = DDP(Net())
for step in range(2):
    x, y = torch.randn(6, 4), torch.randn(6)
    feats = ddp(x)
    loss = ddp.module.head_loss(feats, y)
    loss.backward()
dist.destroy_process_group()
