import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(2)]
        self._register(self.layers)
        self.parts = [nn.Linear(4, 4) for _ in range(2)]
        self.chain = Chain(self.parts)

    def _register(self, layers):
        for index, layer in enumerate(layers):
            self.add_module(f"layer_{index}", layer)

    def forward(self, x):
        for layer in (*self.layers, *self.parts):
            x = layer(x)
        return x


class Chain(nn.Sequential):
    def __init__(self, parts):
        super().__init__(*parts)


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()
