import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tail = list()  # expect: DST628
        self.build(3)

    def build(self, count):
        self.tail.extend(nn.Linear(4, 4) for _ in range(count))
        self.tail += [nn.Linear(4, 1)]

    def forward(self, x):
        for each in self.tail:
            x = each(x)
        return x


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
