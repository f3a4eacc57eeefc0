import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self, kinds):
        super().__init__()
        self.pairs = []
        for _ in range(2):
            self.pairs.append((nn.Linear(4, 4), nn.ReLU()))
        self.functions = [nn.Linear(4, 4), torch.relu]
        self.kinds = {kind: nn.Linear(4, 4) for kind in kinds}
        self.sum = [nn.Linear(4, 4)] + [nn.ReLU()]
        self.changed = []
        self.changed.append(nn.Linear(4, 4))
        self.changed[0] = nn.Linear(4, 4)

    def forward(self, x, kind):
        for layer, activation in self.pairs:
            x = activation(layer(x))
        for each in (*self.functions, *self.sum, *self.changed):
            x = each(x)
        return self.kinds[kind](x)


dist.init_process_group("gloo")
model = DDP(Net([1]))
model(torch.ones(1, 4), 1).sum().backward()
dist.destroy_process_group()
