"""T42. Parameters are frozen before the wrap."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.head(self.backbone(x))


dist.init_process_group("gloo")
net = Net()
for p in net.backbone.parameters():
    p.requires_grad_(False)
ddp = DDP(net)
opt = torch.optim.SGD([p for p in ddp.parameters() if p.requires_grad], lr=0.1)
for step in range(2):
    ddp(torch.randn(3, 4)).mean().backward()
    opt.step()
dist.destroy_process_group()
