import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.many = [nn.Linear(4, 4) for _ in range(2)]
        self.named = {"x": nn.Linear(4, 4), "y": nn.ReLU()}
        self.filled = []
        for _ in range(2):
            self.filled.append(nn.Linear(4, 4))
        self.ends = (
            nn.Linear(4, 4),  # first
            nn.Linear(4, 4),
        )
        self.bare = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, kind):
        for one, other in zip(self.many, self.filled):
            x = one(other(x))
        for end in self.ends:
            x = end(x)
        return self.named["x"](self.bare[0](x))


dist.init_process_group("gloo")
model = DDP(Net([1]))
model(torch.ones(1, 4), 1).sum().backward()
dist.destroy_process_group()
