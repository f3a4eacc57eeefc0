import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self._experts = [nn.Linear(4, 4).cuda() for _ in range(8)]  # expect: DST628

    @property
    def experts(self):
        return self._experts

    def forward(self, x):
        return sum(expert(self.stem(x)) for expert in self.experts)


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
