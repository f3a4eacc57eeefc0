import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Mix(nn.Module):
    def forward(self, x, parts):
        return sum(part(x) for part in parts.values())


class Net(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.mix = Mix()
        self.parts = {}  # expect: DST628
        for size in sizes:
            self.parts[f"part_{size}"] = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).cuda()

    def forward(self, x):
        return self.mix(x, self.parts)


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
