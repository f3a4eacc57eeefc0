import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.first = {"a": nn.Linear(4, 4), "b": nn.Embedding(4, 4)}  # expect: DST628
        self.second = dict(a=nn.Linear(4, 4), b=nn.Linear(4, 4))  # expect: DST628
        self.third = {kind: nn.Linear(4, 4) for kind in kinds}  # expect: DST628

    def forward(self, x, kind):
        return self.first[kind](x) + self.second[kind](x) + self.third[kind](x)


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
