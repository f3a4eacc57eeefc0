import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.low = nn.Linear(4, 4)
        self.high = nn.Linear(4, 4)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = Trunk()
        trunk = self.trunk
        self.stages = [trunk.low, trunk.high]
        low = trunk.low
        self.more = [low, self.trunk.high]
        self.widths = [nn.Linear(4, 4).out_features, 4]

    def forward(self, x):
        for stage in (*self.stages, *self.more):
            x = stage(x)
        return x


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
