import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.teacher = [nn.Linear(4, 4)]
        self.judges = [nn.Linear(4, 4).eval(), nn.Linear(4, 4).eval()]
        self.frozen = []
        for _ in range(2):
            judge = nn.Linear(4, 4)
            judge.requires_grad_(False)
            self.frozen.append(judge)
        self.targets = [nn.Linear(4, 4), nn.Linear(4, 4)]

    @torch.no_grad()
    def target(self, x):
        return sum(each(x) for each in self.targets)

    def forward(self, x):
        x = self.stem(x)
        return x + self.teacher[0](x) + self.judges[0](x) + self.frozen[1](x) + self.target(x)


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
