import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = []  # expect: DST628
        for _ in range(2):
            self.parts.append((nn.Linear(4, 4), nn.LayerNorm(4)))

    def forward(self, x):
        for linear, norm in self.parts:
            x = norm(linear(x))
        return x


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
