import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        stages = []
        for _ in range(depth):
            norm = nn.BatchNorm2d(8)
            stages.append(nn.Sequential(nn.Conv2d(8, 8, 3), norm))
        self.stages = stages  # expect: DST628

    def forward(self, x):
        for index in range(len(self.stages)):
            x = self.stages[index](x)
        return x


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
