import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for _ in range(3):
            self.layers.append(nn.Linear(4, 4))
        self.layers = nn.ModuleList(self.layers)
        self.blocks = [nn.Linear(4, 4) for _ in range(3)]
        self.net = nn.Sequential(*self.blocks)
        parts = [nn.Linear(4, 4) for _ in range(3)]
        self.parts = parts
        self.both = nn.ModuleList(parts)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        for block, part in zip(self.blocks, self.parts):
            x = part(block(x))
        return x


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
