import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 4)
        self.experts = [nn.Linear(4, 4) for _ in range(2)]

    def forward(self, x):
        return sum(expert(self.stem(x)) for expert in self.experts)


def groups(net):
    return [{"params": expert.parameters()} for expert in net.experts]


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
