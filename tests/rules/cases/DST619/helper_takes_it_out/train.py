import torch
from helpers import inside, replicate, replicated
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(2, 1)
        self.stride = 4

    def forward(self, x):
        return self.head(x)


def main():
    nets = {}
    nets["student"] = Net()
    print(nets["student"].stride)
    nets["student"] = replicate(nets["student"])
    print(inside(nets["student"]).stride)


def by_choice(args):
    net = replicated(Net(), args.distributed)
    if not isinstance(net, DDP):
        print(net.stride)
    print(replicated(Net(), False).stride)


class Trainer:
    def __init__(self, net):
        self.net = net
        self.show()
        self.net = replicate(net)

    def show(self):
        print(self.net.stride)
