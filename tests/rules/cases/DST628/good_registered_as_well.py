import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4)
        self.layers = [self.first, self.second]
        self.named = {}
        self.others = []
        for index in range(3):
            layer = nn.Linear(4, 4)
            self.add_module(f"layer_{index}", layer)
            self.named[index] = layer
            other = nn.Linear(4, 4)
            setattr(self, f"other_{index}", other)
            self.others.append(other)
        last = nn.Linear(4, 4)
        self.last = last
        self.ends = [last, nn.ReLU()]

    def forward(self, x):
        for layer in (*self.layers, *self.named.values(), *self.others, *self.ends):
            x = layer(x)
        return x


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
